"""A connection to a server: to whom the token is given."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from paddock.address import Address
from paddock.errors import Unreachable
from paddock.track.ship.connection import Connection


def test_a_named_socket_in_a_directory_of_others_is_not_given_the_token(tmp_path: Path) -> None:
    place = tmp_path / "theirs"
    place.mkdir()
    path = place / "lab.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(0.0)
        place.chmod(0o777)
        with pytest.raises(Unreachable, match=f"others may write to {place}"):
            Connection(Address(path=str(path), name="lab"), "secret").call("GET", "/api/v1/health", None, {})
        with pytest.raises(BlockingIOError):
            listener.accept()
        place.chmod(0o700)
        with pytest.raises(Unreachable, match="timed out"):  # somebody is there, who says nothing
            Connection(Address(path=str(path), name="lab"), "secret", seconds=0.1).call("GET", "/", None, {})
        listener.accept()[0].close()


def test_a_machine_without_its_port_is_taken_for_a_socket_and_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="another machine has a port, gpu7:8642"):
        Connection(Address(path=str(tmp_path / "gpu7.sock"), name="gpu7"), "").call("GET", "/", None, {})
