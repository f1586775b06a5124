// The operator's settings are flags, as a manifest's `args` shows them. None is a secret.
import { parseArgs } from 'node:util';
import { type AccessKind, accessKinds } from './access/types.ts';

interface Flag<T> {
  readonly doc: string;
  readonly parse: (values: readonly string[]) => T;
}

class FlagFault extends Error {}

function last(values: readonly string[]): string | undefined {
  return values.at(-1);
}
function text(fallback: string, doc: string): Flag<string> {
  return { doc: `${doc} (${fallback})`, parse: (values) => last(values) ?? fallback };
}
function optional(doc: string): Flag<string | null> {
  return { doc, parse: (values) => last(values) ?? null };
}
function list(doc: string): Flag<readonly string[]> {
  return { doc: `${doc}; may be given again`, parse: (values) => values };
}
function count(fallback: number, min: number, max: number, doc: string): Flag<number> {
  return {
    doc: `${doc} (${fallback})`,
    parse(values) {
      const given = last(values);
      if (given === undefined) return fallback;
      const n = Number(given);
      if (!/^\d+$/.test(given) || n < min || n > max) {
        throw new FlagFault(`expected an integer from ${min} to ${max}, got ${JSON.stringify(given)}`);
      }
      return n;
    },
  };
}
function address(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const plain =
    url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (plain && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
  throw new FlagFault(`expected an address like https://svc.example.com, got ${JSON.stringify(value)}`);
}

function kindOf(value: string): AccessKind {
  const kind = accessKinds.find((one) => one === value);
  if (kind === undefined)
    throw new FlagFault(`expected ${accessKinds.join(' or ')}, got ${JSON.stringify(value)}`);
  return kind;
}

/** Every flag: name on the command line → name in code, meaning, default. Documented in docs/kubernetes.md. */
export const flags = {
  'base-url': {
    doc: 'the service, for policies that name none; unset: each names one',
    parse: (values: readonly string[]) => (values.length === 0 ? null : address(last(values) ?? '')),
  },
  'allowed-base-url': {
    doc: 'an address that a policy may name besides; may be given again',
    parse: (values: readonly string[]) => values.map(address),
  },
  'console-url': {
    doc: 'the console, for links in status',
    parse: (values: readonly string[]) => (values.length === 0 ? null : address(last(values) ?? '')),
  },
  'watch-namespace': list('a namespace to watch; none: all'),
  manage: {
    doc: 'a kind to manage besides RoutingPolicy: Project or ApiKey; may be given again',
    parse: (values: readonly string[]) => [...new Set(values.map(kindOf))],
  },
  'cluster-id': optional('the name of this cluster in `managed_by`; unset: the uid of namespace kube-system'),
  'lease-namespace': text('default', 'namespace of the leader lease'),
  'lease-name': text('svc-operator', 'name of the leader lease'),
  'lease-seconds': count(15, 2, 300, 'how long a leader that does not answer stays leader'),
  'resync-seconds': count(300, 1, 86_400, 'how often each policy is compared with the service, ± 20 %'),
  workers: count(4, 1, 64, 'policies reconciled at once'),
  'health-host': text('127.0.0.1', 'address of /healthz, /readyz, /metrics'),
  'health-port': count(8083, 0, 65_535, 'port of these; 0 picks a free one'),
  identity: optional('name of this process in the lease; unset: host name and a random part'),
  kubeconfig: optional(
    "file to reach the cluster with; unset: as kubectl does, or the pod's service account",
  ),
  'log-level': text('info', 'debug, info, warn or error'),
} as const;

type Flags = typeof flags;
type Snake<T extends string> = T extends `${infer A}-${infer B}` ? `${A}_${Snake<B>}` : T;
export type Options = {
  readonly [K in keyof Flags as Snake<K>]: ReturnType<Flags[K]['parse']>;
};

/** Flags that cannot be used; the message names each. */
export class OptionsError extends Error {}

/** Reads the command line. @throws OptionsError. */
export function readOptions(args: readonly string[]): Options {
  const table = Object.fromEntries(
    Object.keys(flags).map((name) => [name, { type: 'string', multiple: true } as const]),
  );
  let given: Record<string, unknown>;
  try {
    given = parseArgs({ args: [...args], options: table, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new OptionsError((error as Error).message);
  }
  const faults: string[] = [];
  const options: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags) as [string, Flag<unknown>][]) {
    try {
      options[name.replaceAll('-', '_')] = flag.parse((given[name] as string[] | undefined) ?? []);
    } catch (error) {
      faults.push(`--${name}: ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new OptionsError(faults.join('\n'));
  return options as Options;
}
