-- An account's id is the subject of a token, which may be longer than 255 characters.

ALTER TABLE "event_journal" ALTER COLUMN "persistence_id" SET DATA TYPE VARCHAR(20000);
ALTER TABLE "snapshot" ALTER COLUMN "persistence_id" SET DATA TYPE VARCHAR(20000);
