// Where the budget of a run stands: what `svc.budget` of calls has asked for (docs/limits.md#runs).
import { type Static, Type } from 'typebox';
import { type Context, idOf, isId, named, notFound, operation, orgCaller } from '../kernel/index.ts';
import { RUN_LENGTH_MAX, readRun, runOf } from '../ledger/index.ts';
import { findOrg, findPepper, ledgerOf, listProjects } from '../orgs/index.ts';
import { bookOf } from './change.ts';
import { numberOf, sightOf } from './view.ts';

export const RunView = named(
  'Run',
  Type.Object({
    id: Type.String({ description: 'as calls name it in `svc.budget.id`' }),
    project_id: idOf('project'),
    max_micro: Type.Integer({ description: 'micro-USD, as the newest of its calls gave it' }),
    spent_micro: Type.Integer({ description: 'charged for its calls' }),
    held_micro: Type.Integer({ description: 'kept for its calls that run' }),
    remaining_micro: Type.Integer({ description: 'what a further call can still hold' }),
  }),
);
type RunView = Static<typeof RunView>;

async function viewRun(context: Context, project_id: string, id: string): Promise<RunView> {
  const caller = orgCaller(context);
  const { db, services } = context;
  const { org_id } = caller;
  if (!isId('project', project_id)) throw notFound();
  const [project] = await listProjects(db, { org_id, environment: sightOf(caller), id: project_id });
  const org = await findOrg(db, org_id);
  const pepper = await findPepper({ db, root_key: services.root_key }, org_id);
  if (project === undefined || org === null || pepper === null) throw notFound();
  const found = await readRun(await ledgerOf(context, org_id), {
    book_id: bookOf(org, project),
    run: runOf(pepper, { project_no: numberOf(project), id }),
  });
  if (found === null) throw notFound();
  const { max_micro_usd: max_micro, spent_micro_usd: spent_micro, held_micro_usd: held_micro } = found;
  const remaining_micro = Math.max(0, max_micro - spent_micro - held_micro);
  return { id, project_id: project.id, max_micro, spent_micro, held_micro, remaining_micro };
}

export const getRunOperation = operation({
  name: 'projects.runs.get',
  method: 'GET',
  path: '/v1/projects/:id/runs/:run',
  summary: 'Read what a run of several calls has spent of its budget',
  audience: {
    kind: 'key',
    scopes: 'any',
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({
    id: idOf('project'),
    run: Type.String({ minLength: 1, maxLength: RUN_LENGTH_MAX, description: 'The id that its calls name.' }),
  }),
  output: RunView,
  errors: [],
  example: {
    ...{ id: 'research-42', project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
    ...{ max_micro: 2_000_000, spent_micro: 1_240_310, held_micro: 60_000, remaining_micro: 699_690 },
  },
  run: (context, { id, run }) => viewRun(context, id, run),
});
