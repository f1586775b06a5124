-- compatible_from: 0019
-- Months of a plan that staff give: no fee is taken for those that begin before this time, and no credit comes with them.

alter table org add column plan_free_until timestamptz;
