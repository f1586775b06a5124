// Which paths exist and with which methods, to distinguish a wrong method (405 with Allow) from an unknown path (404).

interface KnownPath {
  readonly methods: readonly string[];
  readonly cross_origin: boolean;
  /** Whether sessions are admitted, so that console pages may call with credentials. */
  readonly by_session: boolean;
}

interface Entry {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
  cross_origin: boolean;
  by_session: boolean;
}

export class PathTable {
  readonly #entries = new Map<string, Entry>();

  /** Adds `method` for a path with `:param` segments. */
  add(method: string, path: string, cross_origin: boolean, by_session = false): void {
    const key = path.replaceAll(/:[a-z_]+/g, ':');
    const entry = this.#entries.get(key) ?? {
      segments: key.split('/'),
      methods: new Set<string>(),
      cross_origin: false,
      by_session: false,
    };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    entry.methods.add('OPTIONS');
    entry.cross_origin ||= cross_origin;
    entry.by_session ||= by_session;
    this.#entries.set(key, entry);
  }

  /**
   * The known path that matches `path` (without a query string). A literal segment takes precedence over a parameter.
   */
  find(path: string): KnownPath | null {
    const parts = path.split('/');
    let best: Entry | null = null;
    for (const entry of this.#entries.values()) {
      const { segments } = entry;
      const fits =
        segments.length === parts.length &&
        segments.every((segment, i) => (segment === ':' ? parts[i] !== '' : segment === parts[i]));
      if (fits && (best === null || !segments.includes(':'))) best = entry;
    }
    if (best === null) return null;
    const { cross_origin, by_session } = best;
    return { methods: [...best.methods].sort(), cross_origin, by_session };
  }
}
