"""The board: the web page that `paddock serve` shows, as it was built from web/."""
