// The certificate of a domain: whether browsers can come by https, until when, and what was wrong last.
import type { ShopDomainFragment } from '../../../api/gen/tools/graphql.ts';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';

type Certificate = NonNullable<ShopDomainFragment['certificate']>;

export const actors: Readonly<Record<NonNullable<Certificate['who']>, string>> = {
  YOU: 'You',
  DNS_PROVIDER: 'Whoever runs the name servers',
  SERVICE: 'This service',
};

const words: Readonly<
  Record<Certificate['state'], readonly [tone: 'ok' | 'warn' | 'bad' | 'mute', text: string]>
> = {
  OUTSIDE: ['mute', 'got by whatever stands in front of this service'],
  WAITING: ['warn', 'on its way'],
  VALID: ['ok', 'valid'],
  FAILING: ['bad', 'none yet'],
  EXPIRED: ['bad', 'expired'],
};

function Fault({ certificate }: { certificate: Certificate }) {
  const { detail, who, fix, failedAt, nextAt } = certificate;
  if (!fix || !failedAt) return null;
  return (
    <dl className="shop-check">
      <dt>{who ? actors[who] : 'To do'}</dt>
      <dd>{fix}</dd>
      {detail && (
        <>
          <dt>The authority says</dt>
          <dd>{detail}</dd>
        </>
      )}
      <dt>Last tried</dt>
      <dd>
        <Time at={failedAt} />
      </dd>
      {nextAt && (
        <>
          <dt>Tried again</dt>
          <dd>
            <Time at={nextAt} />
          </dd>
        </>
      )}
    </dl>
  );
}

export function CertificateLine({ certificate }: { certificate: Certificate }) {
  const { state, issuer, validUntil } = certificate;
  const [tone, text] = words[state];
  return (
    <div className="shop-certificate">
      <div className="row wrap">
        <span>Certificate</span>
        <Status tone={tone}>{text}</Status>
        {validUntil && (
          <span className="sub">
            {state === 'EXPIRED' ? 'since ' : 'until '}
            <Time at={validUntil} />
            {issuer && `, by ${issuer}, renewed by itself`}
          </span>
        )}
      </div>
      <Fault certificate={certificate} />
    </div>
  );
}
