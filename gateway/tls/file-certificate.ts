// The certificate of a file, mostly a wildcard: for hosts that have none of their own. It is read again when the file changes, as
// programs that renew it write it anew.
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import {
  type Log,
  monotonicMs,
  readServerCertificate,
  type ServerCertificate,
} from '@svc/core/kernel/index.ts';

const LOOK_MS = 10_000;

interface Loaded {
  readonly leaf: ServerCertificate;
  readonly context: SecureContext;
}

export class FileCertificate {
  readonly #files: { readonly cert: string; readonly key: string };
  readonly #log: Log;
  #loaded: Loaded;
  #stamp: string;
  #look_at_ms: number;

  /** @throws Error when the files cannot be used: a process that starts says so at once. */
  constructor(files: { readonly cert: string; readonly key: string }, log: Log) {
    this.#files = files;
    this.#log = log;
    this.#stamp = this.#stampNow();
    this.#loaded = this.#load();
    this.#look_at_ms = monotonicMs() + LOOK_MS;
  }

  /** The certificate, if it is for `host`. */
  at(host: string): SecureContext | null {
    this.#look();
    const { leaf, context } = this.#loaded;
    return leaf.isFor(host) ? context : null;
  }

  #stampNow(): string {
    const { cert, key } = this.#files;
    return [cert, key].map((path) => statSync(path).mtimeMs).join(' ');
  }

  #load(): Loaded {
    const cert = readFileSync(this.#files.cert, 'utf8');
    const leaf = readServerCertificate(cert);
    return { leaf, context: createSecureContext({ cert, key: readFileSync(this.#files.key, 'utf8') }) };
  }

  /** Takes what was written anew; what cannot be used is said, and the one before serves on. */
  #look(): void {
    if (monotonicMs() < this.#look_at_ms) return;
    this.#look_at_ms = monotonicMs() + LOOK_MS;
    try {
      const stamp = this.#stampNow();
      if (stamp === this.#stamp) return;
      this.#loaded = this.#load();
      this.#stamp = stamp;
    } catch (error) {
      this.#log.warn({ error }, 'the certificate of SVC_TLS_CERT_FILE cannot be read');
    }
  }
}
