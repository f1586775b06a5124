// SQL of suites and their cases.
import type { Db, Id } from '../../kernel/index.ts';
import type { Case, Suite, SuiteRevision } from './types.ts';

const COLUMNS = 'id, org_id, name, revision, case_count, created_at, updated_at';

/** A suite of the organization; null when there is none. */
export async function findSuite(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Suite | null> {
  const { rows } = await db.query<Suite>({
    name: 'evals.find_suite',
    text: `select ${COLUMNS} from eval_suite where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** As `findSuite`, and holds the row until the transaction ends. */
export async function lockSuite(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Suite | null> {
  const { rows } = await db.query<Suite>({
    name: 'evals.lock_suite',
    text: `select ${COLUMNS} from eval_suite where org_id = $1 and id = $2 for no key update`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** A page of suites, newest first, strictly after `after`. */
export async function listSuites(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<Suite[]> {
  const { rows } = await db.query<Suite>({
    name: 'evals.list_suites',
    text: `
      select ${COLUMNS} from eval_suite
       where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc
       limit $4`,
    values: [
      args.org_id,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}

/** Adds a suite; its cases are added by `insertCases`. */
export async function insertSuite(
  db: Db,
  suite: Pick<Suite, 'id' | 'org_id' | 'name' | 'case_count'> & { at: Date },
): Promise<Suite> {
  const { rows } = await db.query<Suite>({
    name: 'evals.insert_suite',
    text: `
      insert into eval_suite (id, org_id, name, revision, case_count, created_at, updated_at)
      values ($1, $2, $3, 1, $4, $5, $5)
      returning ${COLUMNS}`,
    values: [suite.id, suite.org_id, suite.name, suite.case_count, suite.at],
  });
  return rows[0] as Suite;
}

/** Adds the cases of a revision. */
export async function insertCases(
  db: Db,
  args: { suite_id: Id<'eval_suite'>; revision: number; cases: readonly Case[] },
): Promise<void> {
  await db.query({
    name: 'evals.insert_cases',
    text: `
      insert into eval_case (suite_id, revision, case_no, case_id, body)
      select $1, $2, c.case_no, c.case_id, c.body::jsonb
        from unnest($3::int[], $4::text[], $5::text[]) c(case_no, case_id, body)`,
    values: [
      args.suite_id,
      args.revision,
      args.cases.map(({ case_no }) => case_no),
      args.cases.map(({ case_id }) => case_id),
      args.cases.map(({ body }) => JSON.stringify(body)),
    ],
  });
}

/** Cases of a revision in their order, from `from` on. */
export async function readCases(
  db: Db,
  args: { suite_id: string; revision: number; from: number; limit: number },
): Promise<Case[]> {
  const { rows } = await db.query<Case>({
    name: 'evals.read_cases',
    text: `
      select case_no, case_id, body from eval_case
       where suite_id = $1 and revision = $2 and case_no >= $3
       order by case_no limit $4`,
    values: [args.suite_id, args.revision, args.from, args.limit],
  });
  return rows;
}

/** A case of a revision by its id; null when there is none. */
export async function findCase(
  db: Db,
  args: { suite_id: string; revision: number; case_id: string },
): Promise<Case | null> {
  const { rows } = await db.query<Case>({
    name: 'evals.find_case',
    text: `
      select case_no, case_id, body from eval_case where suite_id = $1 and revision = $2 and case_id = $3`,
    values: [args.suite_id, args.revision, args.case_id],
  });
  return rows[0] ?? null;
}

/** Those of `ids` that cases of the present revision have, in their order. */
export async function findTaken(
  db: Db,
  args: Pick<Suite, 'id' | 'revision'> & { ids: readonly string[] },
): Promise<string[]> {
  const { rows } = await db.query<{ case_id: string }>({
    name: 'evals.find_taken',
    text: `
      select case_id from eval_case
       where suite_id = $1 and revision = $2 and case_id = any ($3) order by case_no`,
    values: [args.id, args.revision, args.ids],
  });
  return rows.map(({ case_id }) => case_id);
}

/** The highest n of a case of the present revision that is called `case_<n>`; 0 when none is. */
export async function highestNumber(db: Db, suite: Pick<Suite, 'id' | 'revision'>): Promise<number> {
  const { rows } = await db.query<{ highest: number }>({
    name: 'evals.highest_number',
    text: `
      select coalesce(max(substring(case_id from '^case_([0-9]{1,9})$')::int), 0) as highest
        from eval_case where suite_id = $1 and revision = $2`,
    values: [suite.id, suite.revision],
  });
  return rows[0]!.highest;
}

/** Copies the cases of revision `from` to `to`, without the one numbered `without`; those behind it move up where it leaves a gap. */
export async function copyCases(
  db: Db,
  args: { suite_id: string; from: number; to: number; without: number | null; closes_gap: boolean },
): Promise<void> {
  await db.query({
    name: 'evals.copy_cases',
    text: `
      insert into eval_case (suite_id, revision, case_no, case_id, body)
      select suite_id, $3, case_no - (case when $5 and case_no > $4 then 1 else 0 end), case_id, body
        from eval_case
       where suite_id = $1 and revision = $2 and case_no is distinct from $4::int`,
    values: [args.suite_id, args.from, args.to, args.without, args.closes_gap],
  });
}

/** The revisions of a suite that are kept, newest first: the present one, and those that runs name. */
export async function readRevisions(db: Db, suite: Pick<Suite, 'id' | 'revision'>): Promise<SuiteRevision[]> {
  const { rows } = await db.query<SuiteRevision>({
    name: 'evals.read_revisions',
    text: `
      select c.revision, count(*)::int as case_count, c.revision = $2 as current,
             (select count(*) from eval_run r
               where r.suite_id = $1 and r.suite_revision = c.revision)::int as runs
        from eval_case c where c.suite_id = $1
       group by c.revision order by c.revision desc`,
    values: [suite.id, suite.revision],
  });
  return rows;
}

/** Changes a locked suite. */
export async function updateSuite(
  db: Db,
  suite: Pick<Suite, 'id' | 'name' | 'revision' | 'case_count'> & { at: Date },
): Promise<Suite> {
  const { rows } = await db.query<Suite>({
    name: 'evals.update_suite',
    text: `
      update eval_suite set name = $2, revision = $3, case_count = $4, updated_at = $5
       where id = $1 returning ${COLUMNS}`,
    values: [suite.id, suite.name, suite.revision, suite.case_count, suite.at],
  });
  return rows[0] as Suite;
}

/** Deletes a suite; its cases are deleted by `deleteUnusedCases`. Whether there was one. */
export async function deleteSuite(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'evals.delete_suite',
    text: 'delete from eval_suite where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
  return rowCount === 1;
}

/** Deletes the cases of revisions that neither a run names nor is the present one. */
export async function deleteUnusedCases(
  db: Db,
  args: { suite_id: string; revision: number | null },
): Promise<void> {
  await db.query({
    name: 'evals.delete_unused_cases',
    text: `
      delete from eval_case c
       where c.suite_id = $1 and ($2::int is null or c.revision <> $2)
         and not exists (select from eval_run r
                          where r.suite_id = c.suite_id and r.suite_revision = c.revision)`,
    values: [args.suite_id, args.revision],
  });
}
