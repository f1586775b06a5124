// Stores a suite at the gateway: the one of its name gets a new revision where its cases have changed, and nothing else.
import { isDeepStrictEqual } from 'node:util';
import type { CaseIn } from '@svc/core/evals/index.ts';
import { type Input, UsageError } from '../command.ts';
import { all, ask, type SuiteShown, type SuiteWhole } from './gateway.ts';
import type { SuiteFile } from './suite-file.ts';

/** A case without what is there by default; a stored case has an id, weight and tags. */
export function bare({ id, input, grader, weight = 1, tags = [] }: CaseIn, n: number): CaseIn {
  return {
    ...{ id: id ?? `case_${n + 1}`, input, grader },
    ...(weight === 1 ? {} : { weight }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

/** The newest suite of a name; null: there is none. */
async function findByName(input: Input, name: string): Promise<SuiteShown | null> {
  for await (const suite of all<SuiteShown>(input, '/suites?limit=200'))
    if (suite.name === name) return suite;
  return null;
}

/** A suite with its cases. */
export function getSuite(input: Input, id: string): Promise<SuiteWhole> {
  return ask(input, { method: 'GET', path: `/suites/${encodeURIComponent(id)}` });
}

/** Stores `suite` as suite `id`, or by its name. @throws Refusal, UsageError: it has no cases. */
export async function storeSuite(
  input: Input,
  { name, cases }: SuiteFile,
  id: string | null,
): Promise<{ suite: SuiteShown; done: 'made' | 'changed' | 'unchanged' }> {
  if (cases.length === 0) throw new UsageError('no case is left that could be stored');
  const found = id === null ? await findByName(input, name) : { id };
  if (found === null) {
    const suite = await ask<SuiteShown>(input, { method: 'POST', path: '/suites', body: { name, cases } });
    return { suite, done: 'made' };
  }
  const old = await getSuite(input, found.id);
  if (isDeepStrictEqual(old.cases.map(bare), cases.map(bare))) return { suite: old, done: 'unchanged' };
  // Who changed the suite between the read and here is not overwritten.
  const suite = await ask<SuiteShown>(input, {
    ...{ method: 'PATCH', path: `/suites/${old.id}` },
    body: { cases, expected_revision: old.revision },
  });
  return { suite, done: 'changed' };
}
