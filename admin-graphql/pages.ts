// The built console: a few files held in memory, so that no request reaches a path of this machine. An unknown path
// without a file extension returns the application's page, whose router interprets it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type SignUpMode, sha256Hex } from '@svc/core/kernel/index.ts';
import type { PublicStorefrontView } from '@svc/core/storefronts/index.ts';
import { escaped } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};
/** Not served to browsers: the list of GraphQL documents that this server accepts. */
const PERSISTED = 'operations.json';

/** Compressed forms that the build puts beside a file, the smaller first. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface Page {
  readonly body: Buffer;
  /** The same, compressed. */
  readonly coded: readonly { readonly coding: string; readonly body: Buffer }[];
  readonly type: string;
  readonly etag: string;
  readonly immutable: boolean;
}

/** The files of a built console. */
export interface Pages {
  readonly files: ReadonlyMap<string, Page>;
  /** GraphQL documents by SHA-256 in hex. */
  readonly persisted: ReadonlyMap<string, string>;
}

/** What the console learns of its installation before it asks anything (console/src/api/boot.ts). */
export interface Boot {
  readonly base_url: string;
  /** Who may make an account; the console of staff makes none. */
  readonly signup?: SignUpMode;
  /** The bot challenge of the page that makes accounts. */
  readonly challenge?: { readonly provider: 'turnstile' | 'hcaptcha'; readonly site_key: string };
  /** The storefront of the host that was asked, whose name and looks stand in place of ours. */
  readonly storefront?: PublicStorefrontView;
}

/** Pages that show the challenge. */
const CHALLENGED = /^\/(?:register|request-access)$/;
/** Pages for who is not signed in: their outline has no navigation. */
const OUTSIDE =
  /^\/(?:sign-in|register|request-access|activate|verify-email|forgot-password|reset-password|invitation)$/;

function etagOf(body: Buffer): string {
  return `"${sha256Hex(body).slice(0, 32)}"`;
}

/** The page under the name of a storefront, and with its logo in place of our icon. */
function dressed(html: string, shop: PublicStorefrontView | undefined): string {
  if (shop === undefined) return html;
  const icon = shop.logo_url === null ? '' : `<link rel="icon" href="${escaped(shop.logo_url)}" />`;
  return html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(shop.display_name)}</title>`)
    .replace(/<link rel="icon"[^>]*>/, () => icon);
}

/**
 * The page with the settings of this installation, which console/src/api/boot.ts reads. They are data that no browser
 * executes. `frame` is the outline that is shown until the scripts are there.
 */
function withBoot(page: Page, boot: Boot, frame: 'inside' | 'outside'): Page {
  const facts = JSON.stringify(boot).replaceAll('<', '\\u003c');
  const html = dressed(page.body.toString('utf8'), boot.storefront)
    .replace('id="boot">{}<', () => `id="boot">${facts}<`)
    .replace('data-frame="inside"', `data-frame="${frame}"`);
  const body = Buffer.from(html);
  return { ...page, body, coded: [], etag: etagOf(body) };
}

/**
 * Reads `dir`; null when no console was built there. @throws Error when the documents it lists do not match their
 * hashes.
 */
export function readPages(dir: string): Pages | null {
  if (!existsSync(join(dir, 'index.html'))) return null;
  const files = new Map<string, Page>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const address = path.slice(dir.length).replaceAll('\\', '/').replace(/^\/?/, '/');
    const type = types[extname(entry.name)];
    if (type === undefined || entry.name === PERSISTED) continue;
    const body = readFileSync(path);
    const coded = codings
      .filter(([, ending]) => existsSync(path + ending))
      .map(([coding, ending]) => ({ coding, body: readFileSync(path + ending) }));
    files.set(address, { body, coded, type, etag: etagOf(body), immutable: address.startsWith('/assets/') });
  }
  return { files, persisted: readPersisted(join(dir, PERSISTED)) };
}

function readPersisted(path: string): Map<string, string> {
  if (!existsSync(path)) return new Map();
  const documents = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>);
  for (const [hash, text] of documents) {
    if (sha256Hex(Buffer.from(text)) !== hash)
      throw new Error(`${path}: ${hash} is not the hash of its document`);
  }
  return new Map(documents);
}

/** What the widget of a challenge loads. @see the providers' pages on content security policies. */
const widgets = {
  turnstile: {
    script: ['https://challenges.cloudflare.com'],
    frame: ['https://challenges.cloudflare.com'],
    ...{ style: [], connect: [] },
  },
  hcaptcha: {
    ...{ script: ['https://hcaptcha.com', 'https://*.hcaptcha.com'] },
    ...{ frame: ['https://hcaptcha.com', 'https://*.hcaptcha.com'] },
    ...{ style: ['https://hcaptcha.com', 'https://*.hcaptcha.com'] },
    ...{ connect: ['https://hcaptcha.com', 'https://*.hcaptcha.com'] },
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** The policy of the page that shows the widget: as of the others, and what its provider loads. */
function challengePolicy(base_url: string, provider: keyof typeof widgets): string {
  const { script, frame, style, connect } = widgets[provider];
  return [
    ...contentPolicy(base_url)
      .split('; ')
      // Scripts of others were not written for trusted types.
      .filter((rule) => !rule.startsWith('require-trusted-types-for'))
      .map((rule) => {
        if (rule.startsWith('script-src')) return [rule, ...script].join(' ');
        if (rule.startsWith('style-src')) return [rule, ...style].join(' ');
        return rule.startsWith('connect-src') ? [rule, ...connect].join(' ') : rule;
      }),
    `frame-src ${frame.join(' ')}`,
  ].join('; ');
}

/** The content security policy that the console is built for: scripts and styles come from this address alone. */
function contentPolicy(base_url: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    `connect-src 'self' ${new URL(base_url).origin}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/** The form of `page` to send to who accepts `accepted`, the value of Accept-Encoding. */
function formOf(page: Page, accepted = ''): { coding?: string; body: Buffer } {
  const wanted = accepted.split(',').filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each));
  const names = wanted.map((each) => each.split(';', 1)[0]?.trim());
  return page.coded.find(({ coding }) => names.includes(coding)) ?? page;
}

/** The page of the application inside and outside, and the policies of both. */
function applicationOf(built: Page | undefined, boot: Boot) {
  const policy = contentPolicy(boot.base_url);
  const { challenge } = boot;
  return {
    index: built === undefined ? undefined : withBoot(built, boot, 'inside'),
    outside: built === undefined ? undefined : withBoot(built, boot, 'outside'),
    policy,
    challenged: challenge === undefined ? policy : challengePolicy(boot.base_url, challenge.provider),
  };
}

/** Serves `pages` at every path that has no other route. */
export function bindPages(
  app: FastifyInstance,
  pages: Pages,
  boot: Boot,
  bootAt: (request: FastifyRequest) => Promise<Boot | null> = async () => null,
): void {
  const built = pages.files.get('/index.html');
  const ours = applicationOf(built, boot);
  app.known_paths.add('GET', '/', false);
  app.get('/*', async (request, reply) => {
    const path = request.url.split('?', 1)[0] as string;
    const is_page = extname(path) === '' && !/^\/(?:v1|graphql)(?:\/|$)/.test(path);
    const is_index = path === '/index.html';
    const other = request.storefront === null || !(is_page || is_index) ? null : await bootAt(request);
    const { index, outside, policy, challenged } = other === null ? ours : applicationOf(built, other);
    const file = is_index ? index : pages.files.get(path);
    const application = OUTSIDE.test(path) ? outside : index;
    const page = file ?? (is_page ? application : undefined);
    if (page === undefined) return reply.callNotFound();
    reply
      .headers(app.answer_headers(request.id))
      .headers({
        etag: page.etag,
        'cache-control': page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        ...(page.type.startsWith('text/html')
          ? { 'content-security-policy': CHALLENGED.test(path) ? challenged : policy }
          : {}),
      })
      .type(page.type);
    if (request.headers['if-none-match'] === page.etag) return reply.code(304).send();
    const { coding, body } = formOf(page, request.headers['accept-encoding'] as string | undefined);
    if (page.coded.length > 0) reply.header('vary', 'accept-encoding');
    if (coding !== undefined) reply.header('content-encoding', coding);
    return reply.send(body);
  });
}
