"""What happens at this moment in a home, or on a server: frozen values, and whoever reads them."""
