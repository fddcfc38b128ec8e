from files.models.stored_file import StoredFile

__all__ = ["StoredFile"]
