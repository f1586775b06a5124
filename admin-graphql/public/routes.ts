// `/models` and `/rankings`: the public pages. Whoever looks needs no account and no JavaScript; what is asked is the filter
// of a form, and what is not understood of it is passed over.
import {
  catalogAt,
  figuresOf,
  findWithdrawn,
  getNamedModel,
  type Model,
  ModelSearch,
  searchModels,
  viewEndpoint,
  viewModel,
} from '@svc/core/catalog/index.ts';
import { readChanges, readPublicApp, readRankings, readStats } from '@svc/core/figures/index.ts';
import { type Context, ServiceError } from '@svc/core/kernel/index.ts';
import { findDefaultTier, findTier } from '@svc/core/resellers/index.ts';
import { addAnswerHooks, type HttpParts, keepable, requestContext, takeTurn } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import { appPage, missingAppPage } from './app-page.ts';
import { ICON, STYLE, STYLE_PATH } from './frame.ts';
import { COMPARED_MAX, comparePage, listPage } from './list-page.ts';
import { missingPage, modelPage, withdrawnPage } from './model-page.ts';
import { RANKED_DAYS, rankingsPage } from './rankings-page.ts';

/** As the console's, of which these pages need less: no script, no connection. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
const cached = { scope: 'public' } as const;

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;
interface PageRequest {
  readonly Params: { readonly vendor?: string; readonly model?: string; readonly slug?: string };
  readonly Querystring: Query;
}
type Request = FastifyRequest<PageRequest>;

const searchCheck = Compile(ModelSearch);
const listed = (value: Query[string]) => [value ?? []].flat();

/** What the form asks; a value that no form has is left out, and the others count. */
export function readSearch(query: Query): ModelSearch {
  const text = (name: string) => listed(query[name])[0]?.trim().normalize('NFC') || undefined;
  const on = (name: string) => (text(name) === '1' ? true : undefined);
  const capability = [...new Set(listed(query['capability']))];
  const asked = {
    ...{ q: text('q'), vendor: text('vendor'), modality: text('modality') },
    ...{ sort: text('sort'), status: text('status'), zdr: on('zdr'), no_train: on('no_train') },
    ...{ new: on('new'), price_changed: on('price_changed') },
  };
  const search: Record<string, unknown> = {};
  const take = (name: string, value: unknown) => {
    if (value !== undefined && searchCheck.Check({ [name]: value })) search[name] = value;
  };
  for (const [name, value] of Object.entries(asked)) take(name, value);
  const known = capability.filter((one) => searchCheck.Check({ capability: [one] }));
  if (known.length > 0) take('capability', known);
  // The order by name is what everybody sees who asks for nothing.
  if (search['sort'] === 'name') delete search['sort'];
  return search as ModelSearch;
}

/** Where the console is: at the public address, or at the first of its own. */
function originOf({ services, base_url }: HttpParts): string {
  const own = new URL(base_url).origin;
  const { console_origins } = services.sign_in;
  return console_origins.includes(own) ? own : (console_origins[0] ?? own);
}

/** Whose pages these are: ours, or a reseller's at its storefront, with the prices that who comes there would pay. */
interface Site {
  readonly parts: HttpParts;
  readonly origin: string;
  readonly of_reseller: boolean;
}

async function siteOf(parts: HttpParts, { storefront }: Request): Promise<Site> {
  if (storefront === null) return { parts, origin: originOf(parts), of_reseller: false };
  const { seller, address } = storefront;
  const id = await findDefaultTier(parts.pool, seller.org_id);
  const tier = id === null ? null : await findTier(parts.pool, { org_id: seller.org_id, id });
  const catalog = await catalogAt(parts.services.catalog(), tier?.markup_bps ?? 0);
  const services = { ...parts.services, catalog: () => catalog };
  return { parts: { ...parts, services, base_url: address }, origin: address, of_reseller: true };
}

function send(request: Request, reply: FastifyReply, status: 200 | 404 | 410, page: string): FastifyReply {
  // The icon is ours.
  const body = request.storefront === null ? page : page.replace(ICON, '');
  reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8');
  if (status !== 200) return reply.code(status).send(body);
  if (keepable({ request, reply }, cached, { body, output: null })) return reply.code(304).send();
  return reply.send(body);
}

/** Models that this process answers by itself cost nothing and are nobody's: no price list has them. */
const offered = (context: Context) =>
  new Map(
    [...context.services.catalog().models].filter(([, { endpoints }]) =>
      endpoints.some(({ wire }) => !wire.in_process),
    ),
  );

async function showList(context: Context, query: Query, origin: string): Promise<string> {
  const models = offered(context);
  const search = readSearch(query);
  const found = await searchModels(context, models, search);
  const vendors = [...new Set([...models.values()].map(({ vendor }) => vendor))].sort();
  const views = found.models.map((model) => viewModel(model, false, found.figures.models.get(model.id)));
  return listPage({ models: views, search, vendors, origin });
}

async function showComparison(context: Context, query: Query, origin: string): Promise<string> {
  const models = offered(context);
  const figures = await figuresOf(context);
  const chosen = [...new Set(listed(query['id']))]
    .flatMap((id) => models.get(id) ?? [])
    .slice(0, COMPARED_MAX);
  return comparePage({
    models: chosen.map((model) => viewModel(model, false, figures.models.get(model.id))),
    origin,
  });
}

async function showModel(context: Context, model: Model, site: Site): Promise<string> {
  const figures = await figuresOf(context);
  return modelPage({
    model,
    view: viewModel(model, false, figures.models.get(model.id)),
    endpoints: model.endpoints.map((endpoint) =>
      viewEndpoint(endpoint, model.markup_bps, figures.endpoints.get(endpoint.id)),
    ),
    stats: await readStats(context, model, { with_apps: true, of_reseller: site.of_reseller }),
    origin: site.origin,
    base_url: site.parts.base_url,
  });
}

/** A page of its own for each model; other names of it lead there. */
async function showNamed(site: Site, context: Context, request: Request, reply: FastifyReply) {
  const { vendor = '', model = '' } = request.params;
  const name = `${vendor}/${model}`;
  try {
    const found = getNamedModel(context.services.catalog(), { name, environment: 'live', param: 'model' });
    if (!offered(context).has(found.id)) throw new ServiceError('model_not_found', 'It is the sandbox’s.');
    if (found.id !== name) return reply.redirect(`/models/${found.id}`, 302);
    return send(request, reply, 200, await showModel(context, found, site));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'model_not_found') throw error;
    const { suggestions: near = [] } = (error.details ?? {}) as { suggestions?: string[] };
    const { origin, of_reseller } = site;
    const gone = findWithdrawn(context.services.catalog(), name);
    if (gone === null) return send(request, reply, 404, missingPage({ near, origin }));
    if (gone.id !== name) return reply.redirect(`/models/${gone.id}`, 302);
    const changelog = await readChanges(context, { model: gone.id, of_reseller });
    return send(request, reply, 410, withdrawnPage({ ...gone, changelog, near, origin }));
  }
}

async function showRankings(context: Context, query: Query, origin: string): Promise<string> {
  const asked = Number(listed(query['days'])[0]);
  const days = RANKED_DAYS.find((one) => one === asked) ?? 7;
  const text = listed(query['category'])[0]?.trim().normalize('NFC').slice(0, 40) ?? '';
  const category = text === '' ? null : text;
  const view = await readRankings(context, { days, ...(category === null ? {} : { category }) });
  return rankingsPage({ view, category, origin });
}

async function showApp(origin: string, context: Context, request: Request, reply: FastifyReply) {
  const { slug = '' } = request.params;
  try {
    return send(request, reply, 200, appPage({ app: await readPublicApp(context, slug), origin }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    return send(request, reply, 404, missingAppPage(origin));
  }
}

/** Binds the pages and their style sheet. */
export function bindPublicPages(app: FastifyInstance, parts: HttpParts): void {
  type Show = (context: Context, request: Request, reply: FastifyReply, site: Site) => Promise<FastifyReply>;
  app.register(async (scope) => {
    addAnswerHooks(scope, parts.metrics);
    const page = (path: string, show: Show) => {
      scope.known_paths.add('GET', path, false);
      scope.get<PageRequest>(path, async (request, reply) => {
        await takeTurn(parts, request, reply, { kind: 'public' });
        const site = await siteOf(parts, request);
        return show(requestContext(site.parts, request, reply, { kind: 'public' }), request, reply, site);
      });
    };
    page('/models', async (context, request, reply, { origin }) =>
      send(request, reply, 200, await showList(context, request.query, origin)),
    );
    page('/models/compare', async (context, request, reply, { origin }) =>
      send(request, reply, 200, await showComparison(context, request.query, origin)),
    );
    page('/models/:vendor/:model', (context, request, reply, site) =>
      showNamed(site, context, request, reply),
    );
    page('/rankings', async (context, request, reply, { origin }) =>
      send(request, reply, 200, await showRankings(context, request.query, origin)),
    );
    page('/rankings/apps/:slug', (context, request, reply, { origin }) =>
      showApp(origin, context, request, reply),
    );
    scope.known_paths.add('GET', STYLE_PATH, false);
    scope.get(STYLE_PATH, async (request, reply) => {
      const fresh = keepable({ request, reply }, cached, { body: STYLE, output: null });
      if (fresh) return reply.code(304).send();
      return reply.type('text/css; charset=utf-8').send(STYLE);
    });
  });
}
