"""What PAC is compared with, one method per small file, its metadata beside it."""
