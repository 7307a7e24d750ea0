"""fio's JSON of all its versions, read in one place and made alike.

    reading.py     a text: which program and version, its jobs, what stood around and was not read
    documents.py   where JSON begins and ends among fio's warnings; one document, or none
    version.py     which version writes which unit
    keys.py        which names a version writes where
    entry.py       a job as the newest version would write it
    agreement.py   figures of a job that have to agree with each other

From fio's own history (github.com/axboe/fio, `stat.c`, `client.c` and `diskutil.c` of all tags from
2.0.10, the first with JSON, to 3.42), and compared with what 3.33 and 3.41 print.
"""
