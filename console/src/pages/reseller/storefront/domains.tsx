// The domains of a storefront: claiming one, what to publish, and what is wrong with what is published.
import { type FormEvent, useState } from 'react';
import {
  ResaleAddDomainDocument,
  ResaleRemoveDomainDocument,
  ResaleVerifyDomainDocument,
  type ResaleVerifyDomainMutation,
  type ShopDomainFragment,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Empty, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { actors, CertificateLine } from './certificate.tsx';
import { DnsRecord } from './record.tsx';

type Domain = ShopDomainFragment;
type Verified = Extract<
  ResaleVerifyDomainMutation['verifyResellerDomain'],
  { readonly __typename: 'VerifyResellerDomainPayload' }
>;
type Check = Verified['checks'][number];
/** What a check says where it passed, and where it did not. */
const checkWords: Readonly<Record<Check['name'], readonly [passed: string, failed: string]>> = {
  OWNERSHIP: ['It is yours', 'It is not shown to be yours'],
  ROUTING: ['It leads here', 'It does not lead here'],
  IPV6: ['IPv6 leads here too', 'IPv6 leads elsewhere'],
  CERTIFICATE: ['A certificate can be issued', 'No certificate can be issued'],
};
function CheckLine({ check }: { check: Check }) {
  const { name, type, host, expected, observed, ok, who, fix } = check;
  return (
    <li>
      <Status tone={ok ? 'ok' : 'bad'}>{checkWords[name][ok ? 0 : 1]}</Status>
      {!ok && (
        <dl className="shop-check">
          <dt>{`${type} at`}</dt>
          <dd className="mono">{host}</dd>
          <dt>Expected</dt>
          <dd className="mono">{expected}</dd>
          <dt>Found</dt>
          <dd className="mono">{observed.length === 0 ? 'nothing' : observed.join(', ')}</dd>
          {fix && (
            <>
              <dt>{who ? actors[who] : 'To do'}</dt>
              <dd>{fix}</dd>
            </>
          )}
        </dl>
      )}
    </li>
  );
}

function DomainItem(props: { domain: Domain; may: boolean; onChanged: () => void; onRemove: () => void }) {
  const { domain, may, onChanged, onRemove } = props;
  const { send, busy, fault } = useSend();
  const [checks, setChecks] = useState<readonly Check[] | null>(null);
  const verify = async () => {
    const made = await send(ResaleVerifyDomainDocument, { domain: domain.domain });
    if (made === null) return;
    setChecks(made.checks);
    onChanged();
  };
  return (
    <li className="shop-domain">
      <div className="row wrap">
        <strong className="mono">{domain.domain}</strong>
        <Status tone={domain.verifiedAt ? 'ok' : 'warn'}>
          {domain.verifiedAt ? 'proved' : 'not proved'}
        </Status>
        {domain.verifiedAt && (
          <span className="sub">
            since <Time at={domain.verifiedAt} />
          </span>
        )}
        {may && (
          <span className="resale-acts">
            <Button busy={busy} onClick={() => void verify()} aria-label={`Verify ${domain.domain}`}>
              Verify
            </Button>
            <Button onClick={onRemove} aria-label={`Remove ${domain.domain}`}>
              Remove…
            </Button>
          </span>
        )}
      </div>
      {!domain.verifiedAt && <DnsRecord type="TXT" host={domain.record} value={domain.token} />}
      {domain.target && <DnsRecord type="CNAME" host={domain.domain} value={domain.target} />}
      {domain.certificate && <CertificateLine certificate={domain.certificate} />}
      <FormFault fault={fault} />
      <ul className="shop-checks" aria-label={`Checks of ${domain.domain}`} aria-live="polite">
        {checks?.map((check) => (
          <CheckLine key={check.name} check={check} />
        ))}
      </ul>
    </li>
  );
}

function RemoveDialog(props: { domain: string; onClose: () => void; onDone: () => void }) {
  const { domain, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const press = async () => {
    if ((await send(ResaleRemoveDomainDocument, { domain })) !== null) onDone();
  };
  return (
    <Dialog
      title={`Remove ${domain}?`}
      note="Customers who come by it are turned away. For thirty days nobody else can prove it."
      size={460}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot kind="danger" cautious onClose={onClose} busy={busy} onPress={() => void press()}>
        Remove
      </DialogFoot>
    </Dialog>
  );
}

function AddForm({ onAdded }: { onAdded: () => void }) {
  const { send, busy, fault } = useSend();
  const [typed, setTyped] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if ((await send(ResaleAddDomainDocument, { domain: typed.trim() })) === null) return;
    setTyped('');
    onAdded();
  };
  return (
    <form className="shop-add" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label="Add a domain"
        placeholder="ai.acme.example"
        value={typed}
        maxLength={253}
        autoComplete="off"
        fault={fault?.message ?? null}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button type="submit" busy={busy}>
        Add
      </Button>
    </form>
  );
}

interface Props {
  readonly domains: readonly Domain[];
  readonly address: string | null;
  readonly may: boolean;
  readonly onChanged: () => void;
}

export function DomainsCard({ domains, address, may, onChanged }: Props) {
  const [removing, setRemoving] = useState<string | null>(null);
  const done = () => {
    setRemoving(null);
    onChanged();
  };
  return (
    <Card title="Domains" note={address === null ? undefined : `Without one of your own: ${address}`}>
      {domains.length === 0 && (
        <Empty title="No domain of your own yet">Customers come by the address above.</Empty>
      )}
      <ul className="shop-domains">
        {domains.map((domain) => (
          <DomainItem
            key={domain.domain}
            {...{ domain, may, onChanged }}
            onRemove={() => setRemoving(domain.domain)}
          />
        ))}
      </ul>
      {may && <AddForm onAdded={onChanged} />}
      {removing !== null && (
        <RemoveDialog domain={removing} onClose={() => setRemoving(null)} onDone={done} />
      )}
    </Card>
  );
}
