// Staff who propose and confirm prices of the models of a file, and processes that load it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Catalog, committedCatalog, type Endpoint, loadCatalog } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { startWorld, type World } from '../graphql/world.ts';
import { atFileEnd } from '../support/ends.ts';

const STANDARD = '{ input: "2.50", output: "10", cache_read: "0.25" }';
const RAISED = '{ input: "4", output: "10", cache_read: "0.25" }';
const modelText = (id: string, standard: string, more: string) => `
  - id: ${id}
    name: ${id}
    context_length: 1000000
    markup_bps: 1000
    ${more}
    endpoints:
      - provider: acme
        upstream_model: ${id.slice(5)}
        price: ${standard}
        bands: [{ from_prompt_tokens: 1000, price: { input: "5", output: "20", cache_read: "0.5" } }]
        tiers: { flex: { price: { input: "1", output: "5" } } }`;
const names = Array.from({ length: 13 }, (_, i) => `acme/m${i}`);

/** A file of thirteen models, `acme/m0` …, and one that retires; those in `raised` have another price, those in `without` are left out. */
function fileText({ raised = [], without = [] }: FileOptions): string {
  const models = names
    .filter((id) => !without.includes(id))
    .map((id) => modelText(id, raised.includes(id) ? RAISED : STANDARD, ''));
  return `version: 1
providers: [{ id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: NONE, byok: capable }]
models: ${models.join('')}
${modelText('acme/retiring', STANDARD, 'retires_at: "2099-02-01"')}
`;
}
interface FileOptions {
  readonly raised?: readonly string[];
  readonly without?: readonly string[];
}

export interface Change {
  readonly kind: string;
  readonly usdPerMillion: string;
  readonly tier?: string;
  readonly fromPromptTokens?: number;
}
export const cheaper: Change[] = [{ kind: 'input', usdPerMillion: '2' }];
export const raised: Change[] = [{ kind: 'input', usdPerMillion: '3' }];

const refusal = '... on UserError { code message path }';
const previewQuery = `query($endpointId: String!, $from: Date!, $changes: [PricePreviewChangeInput!]!) {
  pricePreview(endpointId: $endpointId, from: $from, changes: $changes) {
    endpointId model from earliest until replaces markupBps
    rates { tier fromPromptTokens kind before after chargedBefore chargedAfter changeBps }
    effect { from until complete calls costMicroUsd beforeMicroUsd afterMicroUsd } } }`;
const mutations = {
  propose: `mutation($input: ProposePriceInput!) { done: proposePrice(input: $input) {
    ... on ProposePricePayload { approvalId } ${refusal} } }`,
  approve: `mutation($input: ApproveActInput!) { done: approveAct(input: $input) {
    ... on ApproveActPayload { approval { status } } ${refusal} } }`,
  refuse: `mutation($input: RefuseActInput!) { done: refuseAct(input: $input) {
    ... on RefuseActPayload { approval { status note } } ${refusal} } }`,
  rates: `mutation($input: ProposeRatesInput!) { done: proposeRates(input: $input) {
    ... on ProposeRatesPayload { approvalId } ${refusal} } }`,
  grant: `mutation($input: GrantCreditInput!) { done: grantCredit(input: $input) { ${refusal} } }`,
} as const;
/** Of a day for which nothing can be proposed. */
export const NOTHING = '0'.repeat(64);

export type Who = 'catalog' | 'second' | 'finance' | 'support' | 'compliance';

/** One who proposes, one who confirms, and others. */
async function signInAll(world: World): Promise<Record<Who, string>> {
  return {
    catalog: await world.signInStaff(['catalog']),
    second: await world.signInStaff(['catalog']),
    finance: await world.signInStaff(['finance']),
    support: await world.signInStaff(['support']),
    compliance: await world.signInStaff(['compliance']),
  };
}

/** What of a refusal stands where. */
// biome-ignore lint/suspicious/noExplicitAny: answers of documents that tests write
type Any = any;

export async function startPrices() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-set-prices-'));
  atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'providers.yaml');
  const writeFile = (options: FileOptions = {}) => writeFileSync(path, fileText(options));
  writeFile();
  const world = await startWorld({ providers_file: path });
  const { harness, staff } = world;
  const files = [committedCatalog, path];
  const people = await signInAll(world);
  const started_ms = now().getTime();
  const endpointOf = (id: string): Endpoint => {
    const found = world.catalog.current().models.get(id)?.endpoints[0];
    if (found === undefined) throw new Error(`${id} is not loaded`);
    return found;
  };
  const send = async (who: string, act: keyof typeof mutations, input: object): Promise<Any> =>
    (await world.ask(staff, who, mutations[act], { input })).data.done;
  async function preview(id: string, from: string, changes: Change[], who = people.catalog) {
    const asked = { endpointId: endpointOf(id).id, from, changes };
    const { data, errors } = await world.ask(staff, who, previewQuery, asked);
    return { plan: data?.pricePreview as Any, error: errors[0]?.extensions };
  }
  async function propose(
    id: string,
    from: string,
    changes: Change[],
    more: { who?: Who; input?: object } = {},
  ) {
    const { plan } = await preview(id, from, []);
    return send(people[more.who ?? 'catalog'], 'propose', {
      ...{ endpointId: endpointOf(id).id, from, changes, replaces: plan?.replaces ?? NOTHING },
      ...{ reason: 'new contract', ...more.input },
    });
  }
  return {
    ...{ world, harness, people, files, path, dir, writeFile, endpointOf, send, preview, propose },
    /** The UTC day so many days after the start. */
    inDays: (days: number) => new Date(started_ms + days * 86_400_000).toISOString().slice(0, 10),
    /** A proposal that waits; its id. */
    async waiting(id: string, from: string, changes: Change[]): Promise<string> {
      const made = await propose(id, from, changes);
      if (made.approvalId === undefined) throw new Error(JSON.stringify(made));
      return made.approvalId;
    },
    approve: (id: string, who = people.second) => send(who, 'approve', { id }),
    ask: async (query: string, who: Who = 'support') => world.ask(staff, people[who], query),
    /** Days from which prices of an endpoint are set. */
    async setDays(endpoint_no: number): Promise<string[]> {
      const { rows } = await harness.pool.query<{ day: string }>({
        ...{ name: '', values: [endpoint_no] },
        text: 'select from_day::text as day from catalog.set_price where endpoint_no = $1 order by set_no',
      });
      return rows.map(({ day }) => day);
    },
    /** The catalog as a process that starts now has it. */
    load: (): Promise<Catalog> => loadCatalog(harness.pool, files, { formats: builtIn.catalog }),
  };
}
