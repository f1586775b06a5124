// Read, add, change and remove single cases: a suite has megabytes of them, and who corrects one need not send the others. Each
// change is a revision of its own, as runs keep theirs.
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import {
  type Context,
  idOf,
  invalid,
  lineOf,
  notFound,
  operation,
  refuseOtherVersion,
  ServiceError,
} from '../../kernel/index.ts';
import { checkedCases } from './check.ts';
import {
  evalReaders,
  evalWriters,
  exampleSummary,
  expectedRevision,
  getSuiteRow,
  record,
  refuseOtherRevision,
  suiteExample,
  summaryOf,
} from './operations.ts';
import {
  copyCases,
  deleteUnusedCases,
  findCase,
  findSuite,
  findTaken,
  highestNumber,
  insertCases,
  lockSuite,
  updateSuite,
} from './store.ts';
import { CASES_MAX, type Case, CaseIn, CaseView, caseFields, type Suite, SuiteSummary } from './types.ts';

/** At once; a whole suite is sent as one. */
const ADDED_MAX = 200;

const place = { id: idOf('eval_suite'), case_id: Type.String({ maxLength: 200 }) };
const exampleSuite = { ...exampleSummary, revision: 2 };
const [exampleCase] = suiteExample.cases as [Static<typeof CaseView>];

const viewCase = ({ case_id, body }: Case): Static<typeof CaseView> => ({ id: case_id, ...body });

async function getCase(context: Context, suite: Suite, case_id: string): Promise<Case> {
  const { id: suite_id, revision } = suite;
  const found = await findCase(context.db, { suite_id, revision, case_id });
  if (found === null) throw notFound();
  return found;
}

/** The suite, locked, as the caller expects it. @throws ServiceError not_found, precondition_failed. */
async function lockExpected(
  context: Context,
  input: { readonly id: string; readonly expected_revision?: number },
): Promise<Suite> {
  const suite = await getSuiteRow(context, input.id, lockSuite);
  refuseOtherVersion(context, suite.updated_at);
  refuseOtherRevision(suite, input.expected_revision);
  return suite;
}

function alreadyThere(case_id: string, param: string): ServiceError {
  const message = `The suite has a case ${JSON.stringify(case_id)} already.`;
  return new ServiceError('conflict', message, { param, details: { case_id } });
}

/**
 * The next revision of `suite`: its cases without the one numbered `without`, and `cases`, each at its number. Numbers have no
 * gaps, since runs walk by them: where a case goes and none comes, those behind it move up. A revision that neither is the present
 * one nor kept by a run goes.
 */
async function revise(
  context: Context,
  suite: Suite,
  change: { readonly action: string; readonly without: number | null; readonly cases: readonly Case[] },
): Promise<SuiteSummary> {
  const { db } = context;
  const { without, cases } = change;
  const [suite_id, revision] = [suite.id, suite.revision + 1];
  const case_count = suite.case_count + cases.length - (without === null ? 0 : 1);
  const closes_gap = cases.length === 0;
  await copyCases(db, { suite_id, from: suite.revision, to: revision, without, closes_gap });
  await insertCases(db, { suite_id, revision, cases });
  const changed = await updateSuite(db, {
    ...{ id: suite.id, name: suite.name, revision, case_count },
    at: context.now(),
  });
  await deleteUnusedCases(db, { suite_id, revision });
  await record(context, change.action, changed);
  return summaryOf(changed);
}

/** One case in the form in which it is stored, with the paths of its faults as the caller sent them. */
function checkedCase(one: CaseIn): Case {
  try {
    return checkedCases([one])[0] as Case;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.param === null) throw error;
    const plain = (text: string) => text.replaceAll(/\bcases\[0\]\./g, '');
    throw invalid(plain(error.param), 'format', plain(error.message));
  }
}

export const getCaseOperation = operation({
  name: 'evals.suites.cases.get',
  method: 'GET',
  path: '/v1/evals/suites/:id/cases/:case_id',
  summary: 'Read a case of the present revision',
  audience: evalReaders,
  input: Type.Object(place),
  output: CaseView,
  errors: [],
  example: exampleCase,
  run: async (context, { id, case_id }) =>
    viewCase(await getCase(context, await getSuiteRow(context, id, findSuite), case_id)),
});

export const addCasesOperation = operation({
  name: 'evals.suites.cases.add',
  method: 'POST',
  path: '/v1/evals/suites/:id/cases',
  summary: 'Add cases at the end of a suite, in a new revision',
  audience: evalWriters,
  input: Type.Object({
    id: idOf('eval_suite'),
    cases: Type.Array(CaseIn, { minItems: 1, maxItems: ADDED_MAX }),
    ...expectedRevision,
  }),
  output: SuiteSummary,
  errors: ['precondition_failed', 'conflict'],
  status: 201,
  request: { cases: [{ ...exampleCase, id: 'capital-of-spain' }], expected_revision: 1 },
  example: { ...exampleSuite, case_count: 2 },
  run: (context, input) =>
    context.transaction(async (context) => {
      const suite = await lockExpected(context, input);
      if (suite.case_count + input.cases.length > CASES_MAX)
        throw invalid('cases', 'range', `A suite has at most ${CASES_MAX} cases.`);
      const first = Math.max(suite.case_count, await highestNumber(context.db, suite)) + 1;
      // A case without an id is named as in a new suite, by a number that no case has.
      const numbered = input.cases.map((one, n) => ({ ...one, id: one.id ?? `case_${first + n}` }));
      const cases = checkedCases(numbered).map((one, n) => ({ ...one, case_no: suite.case_count + n }));
      const ids = cases.map(({ case_id }) => case_id);
      const [taken] = await findTaken(context.db, { ...suite, ids });
      if (taken !== undefined) throw alreadyThere(taken, `cases[${ids.indexOf(taken)}].id`);
      return revise(context, suite, { action: 'evals.suites.cases.add', without: null, cases });
    }),
});

export const updateCaseOperation = operation({
  name: 'evals.suites.cases.update',
  method: 'PUT',
  path: '/v1/evals/suites/:id/cases/:case_id',
  summary: 'Change a case, in a new revision; it keeps its place',
  audience: evalWriters,
  input: Type.Object({
    ...place,
    new_id: Type.Optional(lineOf(128)),
    ...caseFields,
    ...expectedRevision,
  }),
  output: SuiteSummary,
  errors: ['precondition_failed', 'conflict'],
  request: { input: exampleCase.input, grader: exampleCase.grader, expected_revision: 1 },
  example: exampleSuite,
  run: (context, { id, case_id, expected_revision, new_id = case_id, ...fields }) =>
    context.transaction(async (context) => {
      const suite = await lockExpected(context, {
        id,
        ...(expected_revision === undefined ? {} : { expected_revision }),
      });
      const old = await getCase(context, suite, case_id);
      if (new_id !== case_id) {
        const [taken] = await findTaken(context.db, { ...suite, ids: [new_id] });
        if (taken !== undefined) throw alreadyThere(taken, 'new_id');
      }
      const next = { ...checkedCase({ ...fields, id: new_id }), case_no: old.case_no };
      // What changes nothing makes no revision, which would part the runs before from those after.
      if (isDeepStrictEqual(viewCase(next), viewCase(old))) return summaryOf(suite);
      return revise(context, suite, {
        ...{ action: 'evals.suites.cases.update', without: old.case_no, cases: [next] },
      });
    }),
});

export const removeCaseOperation = operation({
  name: 'evals.suites.cases.remove',
  method: 'DELETE',
  path: '/v1/evals/suites/:id/cases/:case_id',
  summary: 'Remove a case, in a new revision',
  audience: evalWriters,
  input: Type.Object({ ...place, ...expectedRevision }),
  output: SuiteSummary,
  errors: ['precondition_failed', 'state_conflict'],
  example: exampleSuite,
  run: (context, input) =>
    context.transaction(async (context) => {
      const suite = await lockExpected(context, input);
      const { case_no } = await getCase(context, suite, input.case_id);
      if (suite.case_count === 1)
        throw new ServiceError('state_conflict', 'A suite has at least one case. Delete the suite instead.', {
          param: 'case_id',
          details: { state: 'last_case' },
        });
      return revise(context, suite, { action: 'evals.suites.cases.remove', without: case_no, cases: [] });
    }),
});

export const caseOperations = [
  getCaseOperation,
  addCasesOperation,
  updateCaseOperation,
  removeCaseOperation,
] as const;
