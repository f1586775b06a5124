-- compatible_from: 0054
-- `sum` of bigint adds in 128 bits, in memory of its own for each figure of each group: 20,000 end users with nine figures each did not
-- fit into work_mem. This one adds in 64 bits, and refuses what does not fit into them; no figure is ever beyond 53.
create aggregate sum_bigint(bigint) (sfunc = int8pl, stype = bigint, initcond = '0', combinefunc = int8pl, parallel = safe);
