// Creates an API key. This is the only time that its secret is shown.
import { type Environment, type Scope, scopes } from '@svc/core/kernel/index.ts';
import { createKey } from '@svc/core/keys/index.ts';
import { lockOrg } from '@svc/core/orgs/index.ts';
import { type Command, DAYS_MAX, INT4_MAX, type Input, NAME, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg, getProject } from '../lookup.ts';

const DAY_MS = 86_400_000;

function parseScopes(text: string | null): readonly Scope[] {
  if (text === null) return ['inference'];
  const given = text.split(',').map((one) => one.trim());
  const unknown = given.find((one) => !(scopes as readonly string[]).includes(one));
  if (unknown !== undefined)
    throw new UsageError(`--scopes takes ${scopes.join(', ')}; got ${JSON.stringify(unknown)}`);
  return given as Scope[];
}

function expiry(input: Input, at: Date): Date | null {
  const days = input.integer('expires-days');
  return days === null ? null : new Date(at.getTime() + days * DAY_MS);
}

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    project: { type: 'text', doc: 'id or slug; default: the default project of the environment' },
    environment: { type: 'text', doc: 'default: live', choices: ['live', 'test'] },
    scopes: {
      type: 'text',
      doc: `with commas between, of ${scopes.join(' ')}; default: inference`,
      value: 'A,B',
    },
    name: { ...NAME, doc: 'name that people see' },
    rpm: { type: 'integer', doc: 'requests per minute', min: 1, max: INT4_MAX },
    tpm: { type: 'integer', doc: 'tokens per minute', min: 1, max: INT4_MAX },
    concurrency: { type: 'integer', doc: 'calls at once', min: 1, max: INT4_MAX },
    'daily-budget-micro': { type: 'integer', doc: 'micro-USD per UTC day; 0 allows no spending' },
    'expires-days': {
      type: 'integer',
      doc: 'days until it expires; default: never',
      min: 1,
      max: DAYS_MAX,
    },
  },
  example: 'svcctl key create --org acme --environment live --scopes inference,read:usage --rpm 60',
  async run(input) {
    const wanted = parseScopes(input.find('scopes'));
    const environment = (input.find('environment') ?? 'live') as Environment;
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id } = await getOrg(context, input.get('org'));
      const { key, secret, project_id } = await context.transaction(async (context) => {
        const org = await lockOrg(context.db, id);
        if (org === null) throw new Error('the organization is gone');
        const home = input.find('project') ?? (environment === 'live' ? 'default' : 'sandbox');
        const project = await getProject(context, org, home);
        const made = await createKey(context, org, project, {
          name: input.find('name') ?? 'svcctl',
          scopes: wanted,
          environment,
          rpm: input.integer('rpm'),
          tpm: input.integer('tpm'),
          concurrency: input.integer('concurrency'),
          budget_daily_micro: input.integer('daily-budget-micro'),
          expires_at: expiry(input, context.now()),
        });
        return { ...made, project_id: project.id };
      });
      const json = {
        id: key.id,
        secret,
        hint: key.hint,
        org_id: id,
        project_id,
        environment,
        scopes: wanted,
      };
      return { json, text: `key     ${key.id}\nsecret  ${secret}   (shown once)` };
    });
  },
};
