// Configuration is environment variables, read once and checked as a whole. An unknown SVC_* name is an error, so
// that a misspelt limit or secret cannot go unnoticed. `svcctl config` prints the result with secrets masked.
import {
  address,
  count,
  domainName,
  flag,
  httpUrl,
  isNameServer,
  isNetwork,
  isOrigin,
  list,
  mailFrom,
  oneOf,
  optional,
  SHARD_NAME,
  shardList,
  smtpUrl,
  text,
} from './config-values.ts';
import { analyticsSettings } from './settings/analytics.ts';
import { rateSettings } from './settings/rates.ts';
import { type Setting, setting } from './settings/setting.ts';
import { signUpSettings } from './settings/sign-up.ts';
import { storefrontSettings } from './settings/storefronts.ts';
import { temporalSettings } from './settings/temporal.ts';
import { tlsSettings } from './settings/tls.ts';

export type { Setting };

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/**
 * Every setting of the product, by its name in code: variable, meaning, default and parser. docs/configuration.md
 * documents them.
 */
export const settings = {
  data_dir: setting('SVC_DATA_DIR', 'directory of the embedded database, journals and up.json', '.svc', text),
  host: setting('SVC_HOST', 'address the gateway listens on', '127.0.0.1', text),
  port: setting('SVC_PORT', 'port of the gateway', 8080, count(0, 65535)),
  admin_port: setting('SVC_ADMIN_PORT', 'port of the tenant GraphQL API and console', 8081, count(0, 65535)),
  staff_port: setting('SVC_STAFF_PORT', 'port of the staff GraphQL API', 8082, count(0, 65535)),
  metrics_host: setting('SVC_METRICS_HOST', 'address of the metrics listener', '127.0.0.1', text),
  metrics_port: setting('SVC_METRICS_PORT', 'port of metrics; 0 picks a free one', 9464, count(0, 65535)),
  base_url: setting('SVC_BASE_URL', 'public address of the gateway; unset: http://host:port', null, address),
  gateway_url: setting(
    'SVC_GATEWAY_URL',
    'address at which workers reach the gateway for evaluations; unset: `SVC_BASE_URL`, else `http://127.0.0.1` and `SVC_PORT`',
    null,
    address,
  ),
  database_url: setting(
    'SVC_DATABASE_URL',
    'PostgreSQL to use instead of the embedded one; it may be a pooler in transaction mode',
    null,
    optional,
    true,
  ),
  database_direct_url: setting(
    'SVC_DATABASE_DIRECT_URL',
    'the same database without a pooler, for LISTEN, locks and migrations; unset: SVC_DATABASE_URL',
    null,
    optional,
    true,
  ),
  database_connections: setting(
    'SVC_DATABASE_CONNECTIONS',
    'maximum number of connections of a program to its database, besides a few that each have one purpose',
    8,
    count(2, 1_000),
  ),
  ledger_connections: setting(
    'SVC_LEDGER_CONNECTIONS',
    'maximum number of connections of a program to each ledger, besides those for calls',
    4,
    count(1, 1_000),
  ),
  lookup_connections: setting(
    'SVC_LOOKUP_CONNECTIONS',
    'maximum number of connections of a gateway or admin program that look up keys and policies',
    4,
    count(2, 1_000),
  ),
  ledger_shards: setting<readonly { readonly name: string; readonly url: string }[] | null>(
    'SVC_LEDGER_SHARDS',
    'further ledgers besides `main`, each name=address, with spaces between; ?ledger_schema= names the schema there',
    null,
    shardList,
    true,
  ),
  ledger_shards_open: setting<readonly string[] | null>(
    'SVC_LEDGER_SHARDS_OPEN',
    'ledgers that take new organizations, with commas between; unset: all, `main` too',
    null,
    list((name) => SHARD_NAME.test(name), 'names of shards, with commas between'),
  ),
  ...analyticsSettings,
  redis_url: setting('SVC_REDIS_URL', 'Redis for limits across processes', null, optional, true),
  ...temporalSettings,
  providers_file: setting(
    'SVC_PROVIDERS_FILE',
    'YAML with further providers, endpoints, models, prices',
    null,
    optional,
  ),
  master_key_file: setting('SVC_MASTER_KEY_FILE', 'key ring; unset: <data dir>/keyring.json', null, optional),
  process_name: setting(
    'SVC_PROCESS_NAME',
    'name of this process in leases, journals and logs',
    null,
    optional,
  ),
  log_level: setting('SVC_LOG_LEVEL', 'debug, info, warn or error', 'info', oneOf(LOG_LEVELS)),
  log: setting(
    'SVC_LOG',
    'calls: a line for each finished call; quiet: none, everything else as before',
    'calls',
    oneOf(['calls', 'quiet']),
  ),
  dev: setting('SVC_DEV', 'development: the test clock may be moved', false, flag),
  ledger_sync_holds: setting('SVC_LEDGER_SYNC_HOLDS', 'commit holds synchronously too', false, flag),
  ledger_lease_seconds: setting(
    'SVC_LEDGER_LEASE_SECONDS',
    'how long the lease of a process lasts without renewal',
    60,
    count(1, 3600),
  ),
  limits_lease_seconds: setting(
    'SVC_LIMITS_LEASE_SECONDS',
    'how long the running calls of a dead process count against limits on concurrency',
    15,
    count(1, 3600),
  ),
  drain_seconds: setting(
    'SVC_DRAIN_SECONDS',
    'how long running calls may finish after SIGTERM',
    600,
    count(0, 3600),
  ),
  otlp_endpoint: setting<string | null>(
    'SVC_OTLP_ENDPOINT',
    'collector that traces and metrics are sent to, by OTLP over HTTP; unset: none',
    null,
    httpUrl,
  ),
  otlp_sample_percent: setting(
    'SVC_OTLP_SAMPLE_PERCENT',
    'percentage of calls that are traced, of those whose caller sends no trace context',
    100,
    count(0, 100),
  ),
  cell: setting('SVC_CELL', 'name of this deployment in request rows', 'local', text),
  max_body_bytes: setting(
    'SVC_MAX_BODY_BYTES',
    'largest inference body after decoding',
    33_554_432,
    count(1024, 268_435_456),
  ),
  max_calls: setting(
    'SVC_MAX_CALLS',
    'maximum number of calls that run at once in one gateway process',
    4_000,
    count(1, 100_000),
  ),
  ...rateSettings,
  console_origins: setting<readonly string[] | null>(
    'SVC_CONSOLE_ORIGINS',
    'origins of console pages, with commas between; unset: those of this machine on the admin port',
    null,
    list(isOrigin, 'origins like https://console.example.com, with commas between'),
  ),
  trusted_proxies: setting<readonly string[] | null>(
    'SVC_TRUSTED_PROXIES',
    'addresses or networks whose X-Forwarded-For is trusted, with commas between',
    null,
    list(isNetwork, 'addresses or networks like 10.0.0.0/8, with commas between'),
  ),
  allow_insecure_cookies: setting(
    'SVC_ALLOW_INSECURE_COOKIES',
    'allow sign-in over http:// beyond loopback',
    false,
    flag,
  ),
  ...signUpSettings,
  ...storefrontSettings,
  ...tlsSettings,
  rail_a_base_url: setting(
    'SVC_RAIL_A_BASE_URL',
    'address of rail-a; unset: the public one of the rail',
    null,
    optional,
  ),
  rail_a_key_id: setting(
    'SVC_RAIL_A_KEY_ID',
    'key id of rail-a, shown to browsers; switches the rail on',
    null,
    optional,
  ),
  rail_a_key_secret: setting('SVC_RAIL_A_KEY_SECRET', 'key secret of rail-a', null, optional, true),
  rail_a_webhook_secret: setting(
    'SVC_RAIL_A_WEBHOOK_SECRET',
    'signing secrets of rail-a callbacks, with commas between',
    null,
    optional,
    true,
  ),
  rail_b_base_url: setting(
    'SVC_RAIL_B_BASE_URL',
    'address of rail-b; unset: the public one of the rail',
    null,
    optional,
  ),
  rail_b_key_id: setting('SVC_RAIL_B_KEY_ID', 'publishable key of rail-b, shown to browsers', null, optional),
  rail_b_key_secret: setting(
    'SVC_RAIL_B_KEY_SECRET',
    'secret key of rail-b; switches the rail on',
    null,
    optional,
    true,
  ),
  rail_b_webhook_secret: setting(
    'SVC_RAIL_B_WEBHOOK_SECRET',
    'signing secrets of rail-b callbacks, with commas between',
    null,
    optional,
    true,
  ),
  fx_source: setting('SVC_FX_SOURCE', 'source of exchange rates: static, ecb or an address', 'static', text),
  einvoice_url: setting('SVC_EINVOICE_URL', 'where documents are registered (IRN)', null, address),
  einvoice_demo_url: setting(
    'SVC_EINVOICE_DEMO_URL',
    'simulated portal for documents of the demo supplier',
    null,
    address,
  ),
  einvoice_token: setting('SVC_EINVOICE_TOKEN', 'token for that address', null, optional, true),
  einvoice_keys: setting('SVC_EINVOICE_KEYS_FILE', 'PEM file with public keys of the portal', null, optional),
  smtp_url: setting(
    'SVC_SMTP_URL',
    'mail server, smtp:// (STARTTLS) or smtps://; unset: mails become files in <data dir>/mail',
    null,
    smtpUrl,
    true,
  ),
  smtp_ca_file: setting(
    'SVC_SMTP_CA_FILE',
    "PEM of the authority of the mail server's certificate; unset: those that the machine trusts",
    null,
    optional,
  ),
  mail_from: setting(
    'SVC_MAIL_FROM',
    'whom mails come from, an address or Name <address>; required with SVC_SMTP_URL',
    null,
    mailFrom,
  ),
  mail_domain: setting(
    'SVC_MAIL_DOMAIN',
    'mails that bounce come back to addresses at bounce.<this domain>; unset: to SVC_MAIL_FROM',
    null,
    domainName,
  ),
  mail_dkim_key_file: setting(
    'SVC_MAIL_DKIM_KEY_FILE',
    'PEM of the private key that signs mails (DKIM); unset: they are not signed here',
    null,
    optional,
  ),
  mail_dkim_selector: setting(
    'SVC_MAIL_DKIM_SELECTOR',
    'selector of that key: its public half is at <selector>._domainkey.<domain of SVC_MAIL_FROM>',
    'svc1',
    text,
  ),
  allow_insecure_webhooks: setting(
    'SVC_ALLOW_INSECURE_WEBHOOKS',
    'allow http:// addresses and ports from 1024 on for webhooks',
    false,
    flag,
  ),
  egress_allow: setting<readonly string[] | null>(
    'SVC_EGRESS_ALLOW',
    'addresses or networks that are not public and may still be called, with commas between',
    null,
    list(isNetwork, 'addresses or networks like 10.0.0.0/8, with commas between'),
  ),
  dns_servers: setting<readonly string[] | null>(
    'SVC_DNS_SERVERS',
    'name servers for addresses that users gave, with commas between',
    null,
    list(isNameServer, 'addresses like 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53, with commas between'),
  ),
  graphql_persisted_only: setting(
    'SVC_GRAPHQL_PERSISTED_ONLY',
    'with a session only the documents of the console may be sent',
    false,
    flag,
  ),
  insecure_upstreams: setting(
    'SVC_INSECURE_UPSTREAMS',
    'allow http:// providers beyond loopback',
    false,
    flag,
  ),
} as const;

type Settings = typeof settings;
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

/** The configuration cannot be used. `faults` names each wrong variable and what was expected. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`Configuration is not usable:\n  ${faults.join('\n  ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Reads the settings from `env`. @throws ConfigError naming every unknown or malformed variable at once. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const faults: string[] = [];
  const known = new Set<string>();
  const config: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(settings) as [string, Setting<unknown>][]) {
    known.add(item.env);
    const raw = env[item.env];
    try {
      config[name] = raw === undefined || raw === '' ? item.fallback : item.parse(raw);
    } catch (error) {
      faults.push(
        `${item.env}: ${(error as Error).message}, got ${item.secret ? '(secret)' : JSON.stringify(raw)}`,
      );
    }
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith('SVC_') && !known.has(name) && !isToolVariable(name))
      faults.push(`${name}: unknown setting`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config as Config;
}

/** Variables of the tools resolver (`SVC_<TOOL>_BIN`) name programs to run; they are not settings. */
function isToolVariable(name: string): boolean {
  return name === 'SVC_TOOLS_DIR' || /^SVC_[A-Z_]+_BIN$/.test(name);
}

/** The value of the variable that a catalog file names (`api_key_env`); null when it is unset or empty. */
export function readSecretVariable(name: string): string | null {
  const value = process.env[name];
  return value === undefined || value === '' ? null : value;
}
