// Builds what a program needs from its formats: look-ups by path, family, dialect and kind of provider.
import type { CatalogFormats } from '../../catalog/index.ts';
import type { JsonObject, ServiceError } from '../../kernel/index.ts';
import type { Adapter, Dialect, RawLane } from '../canonical/contract.ts';
import type { ErrorPlace } from '../canonical/types.ts';
import type { ProviderKind } from '../upstream/kind.ts';
import type { Asked, Format } from './format.ts';

export interface Formats {
  /** Adapter by provider family. */
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** Raw lane by `dialect family`. */
  readonly raw_lanes: ReadonlyMap<string, RawLane>;
  /** Dialect by the path that it is served at. */
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** Questions about calls, by path. */
  readonly questions: ReadonlyMap<string, Asked>;
  readonly kinds: ReadonlyMap<string, ProviderKind>;
  /** What is needed to read a catalog. */
  readonly catalog: CatalogFormats;
  /** The error envelope of a path: of the dialect whose route it is or lies below; null when it belongs to none. */
  envelopeAt(path: string): ((error: ServiceError, place: ErrorPlace) => JsonObject) | null;
}

function once<V>(entries: readonly (readonly [string, V])[], what: string): Map<string, V> {
  const map = new Map<string, V>();
  for (const [name, value] of entries) {
    if (map.has(name)) throw new Error(`two formats have ${what} ${name}`);
    map.set(name, value);
  }
  return map;
}

/** The look-ups for `list`. @throws Error when two formats claim the same name or path. */
export function buildFormats(list: readonly Format[]): Formats {
  const adapters = list.flatMap(({ upstream }) => (upstream === null ? [] : [upstream]));
  const callers = list.flatMap((format) => (format.callers === null ? [] : [format.callers(adapters)]));
  const kinds = once(
    list.flatMap((format) => format.kinds.map((kind) => [kind.kind, kind] as const)),
    'kind of provider',
  );
  const dialects = once(
    callers.flatMap(({ routes }) => routes.map(({ path, dialect }) => [path, dialect] as const)),
    'route',
  );
  for (const { path, welcome } of callers.flatMap(({ guests }) => guests)) {
    const host = dialects.get(path);
    if (host === undefined) throw new Error(`a format is a guest at ${path}, which no format has`);
    dialects.set(path, welcome(host));
  }
  const questions = once(
    callers.flatMap((side) => side.questions.map((asked) => [asked.path, asked] as const)),
    'question',
  );
  const by_family = once(
    adapters.map((adapter) => [adapter.family, adapter] as const),
    'family',
  );
  return {
    adapters: by_family,
    raw_lanes: new Map(
      list.flatMap(({ raw }) => (raw === null ? [] : [[`${raw.dialect} ${raw.family}`, raw] as const])),
    ),
    dialects,
    questions,
    kinds,
    catalog: {
      kinds,
      families: new Map(adapters.map(({ family, wire }) => [family, wire])),
    },
    envelopeAt(path) {
      for (const [route, dialect] of dialects) {
        const next = path.charAt(route.length);
        if (path.startsWith(route) && (next === '' || next === '/' || next === '?')) {
          return (error, place) => dialect.error(error, place);
        }
      }
      return null;
    },
  };
}
