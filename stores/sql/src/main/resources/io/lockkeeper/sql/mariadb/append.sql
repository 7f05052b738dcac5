-- Takes a place at the end of a queue and writes down the claim that has taken it, in one trip. Gives how many are ahead, when
-- the first holder expires, and the time; no row: see the general way.
BEGIN NOT ATOMIC
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  ${append_row};
  IF ROW_COUNT() = 1 THEN
    ${append_claim};
    ${appended};
  END IF;
  COMMIT;
END
