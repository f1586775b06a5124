// Certificates of storefronts as jobs: getting, renewing and revoking them, and counting them for the metrics.
import type { Db, Log, RootKeyRing } from '../kernel/index.ts';
import type { Job } from '../runtime/index.ts';
import {
  type AcmeSettings,
  type CertificateCounts,
  CertificateIssuer,
  type CertificateOutcome,
} from '../storefronts/index.ts';

const SECOND = 1_000;

/** Where certificates come from, and from when on one counts as expiring. */
export interface CertificateSource {
  readonly settings: AcmeSettings;
  readonly warn_days: number;
}

export interface CertificateJobs {
  readonly jobs: readonly Job[];
  /** As they were last counted where jobs run. */
  readonly counts: CertificateCounts | null;
  readonly outcomes: ReadonlyMap<CertificateOutcome, number>;
  close(): Promise<void>;
}

/** No jobs where certificates come from outside. */
export function certificateJobs(
  source: CertificateSource | undefined,
  parts: { readonly db: Db; readonly root_key: RootKeyRing; readonly log: Log },
): CertificateJobs {
  if (source === undefined)
    return { jobs: [], counts: null, outcomes: new Map(), close: async () => undefined };
  const { settings, warn_days } = source;
  const issuer = new CertificateIssuer({ ...parts, settings });
  let counts: CertificateCounts | null = null;
  return {
    jobs: [
      { name: 'issue_certificates', every_ms: 2 * SECOND, run: () => issuer.run() },
      { name: 'revoke_certificates', every_ms: 10 * SECOND, run: () => issuer.revoke() },
      {
        name: 'measure_certificates',
        every_ms: 30 * SECOND,
        async run() {
          counts = await issuer.count(warn_days);
          return 0;
        },
      },
    ],
    get counts() {
      return counts;
    },
    outcomes: issuer.outcomes,
    close: () => issuer.close(),
  };
}
