-- A process of the older code that still has the file open goes on reading and writing `claims`.
CREATE VIEW claims AS SELECT * FROM call_locks;
CREATE TRIGGER claims_insert INSTEAD OF INSERT ON claims BEGIN
    INSERT OR REPLACE INTO call_locks VALUES (NEW.key, NEW.owner, NEW.seconds, NEW.created);
END;
CREATE TRIGGER claims_delete INSTEAD OF DELETE ON claims BEGIN
    DELETE FROM call_locks WHERE key = OLD.key;
END;
