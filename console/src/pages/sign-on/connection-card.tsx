// The identity provider: what it is, trying it out, switching it on, asking for it, taking it away.
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import {
  DeleteSsoDocument,
  PutSsoDocument,
  type SignOnFactsFragment,
  type SsoConnectionRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { signOnUrl } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { Bone, Empty, FormFault } from '../../ui/states.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { useProof } from '../profile/proof.tsx';
import { ConnectionDialog } from './connection-dialog.tsx';
import { inputOf } from './input.ts';
import { ProviderAddresses } from './saml-fields.tsx';

type Row = SsoConnectionRowFragment;
type Change = Partial<Pick<Row, 'status' | 'enforce'>>;

const states: Readonly<Record<Row['status'], readonly [Tone, string]>> = {
  ACTIVE: ['ok', 'active'],
  DRAFT: ['warn', 'draft'],
  DISABLED: ['mute', 'switched off'],
};

function Trial({ test }: { test: Row['lastTest'] }) {
  if (!test) return <dd className="soft">not tried out yet</dd>;
  if (!test.ok) {
    return (
      <dd>
        <Status tone="bad">did not work</Status> <Time at={test.at} /> <code>{test.reason}</code>
      </dd>
    );
  }
  const groups = test.groups?.join(', ') || 'none';
  return (
    <dd>
      <Status tone="ok">worked</Status> <Time at={test.at} /> {test.email}; groups: {groups}
      {test.role && `; role: ${test.role.toLowerCase()}`}
    </dd>
  );
}

/** The certificates of a SAML provider, and what became of the last look at its metadata. */
function SamlFacts({ config }: Pick<Row, 'config'>) {
  return (
    <>
      <div>
        <dt>Certificates</dt>
        <dd>
          {config.certificates.map(({ fingerprint, notAfter }) => (
            <div key={fingerprint}>
              <code>{fingerprint.slice(0, 16)}</code> until <Time at={notAfter} />
            </div>
          ))}
        </dd>
      </div>
      <div>
        <dt>Metadata</dt>
        <dd>
          {config.metadataUrl ? <code>{config.metadataUrl}</code> : 'given once'}{' '}
          {config.metadataAt && <Time at={config.metadataAt} />}{' '}
          {config.metadataFault && <Status tone="warn">{config.metadataFault}</Status>}
        </dd>
      </div>
    </>
  );
}

function Facts({ row, addresses }: { row: Row; addresses: SignOnFactsFragment['serviceProvider'] }) {
  const { config } = row;
  return (
    <>
      <dl className="sign-on-facts">
        <div>
          <dt>Provider</dt>
          <dd>
            {row.displayName} <span className="soft">{config.issuer ?? config.idpEntityId}</span>
          </dd>
        </div>
      </dl>
      <ProviderAddresses kind={row.kind} addresses={addresses ?? null} />
      <dl className="sign-on-facts">
        {row.kind === 'SAML' && <SamlFacts config={config} />}
        <div>
          <dt>Passwords</dt>
          <dd>{row.enforce ? 'refused, but for owners with a second factor' : 'work beside it'}</dd>
        </div>
        <div>
          <dt>Last trial</dt>
          <Trial test={row.lastTest ?? null} />
        </div>
      </dl>
    </>
  );
}

function RemoveDialog(props: { row: Row; onClose: () => void; onDone: (said: string) => void }) {
  const { row, onClose, onDone } = props;
  const mutate = useMutate();
  const proof = useProof();
  const { act, busy, fault } = useAction();
  const remove = async () => {
    const done = await act(() => proof.run(() => mutate(DeleteSsoDocument, { alias: row.alias })));
    if (done !== null) onDone('The connection is taken away.');
  };
  return (
    <Dialog
      title={`Take ${row.displayName} away?`}
      note="Sessions that it made end now. People sign in with passwords again; domains stay."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void remove()}>
        Take it away
      </DialogFoot>
      {proof.dialog}
    </Dialog>
  );
}

function Actions(props: {
  row: Row;
  busy: boolean;
  onChange: (change: Change, said: string) => void;
  onOpen: (what: 'edit' | 'remove') => void;
}) {
  const { row, busy, onChange, onOpen } = props;
  const { href } = useLocation();
  const is_active = row.status === 'ACTIVE';
  return (
    <div className="sign-on-foot">
      <a className="btn" href={signOnUrl(row.alias, href, '&test=1')}>
        Try it out
      </a>
      {is_active ? (
        <Button busy={busy} onClick={() => onChange({ status: 'DISABLED', enforce: false }, 'Switched off.')}>
          Switch off
        </Button>
      ) : (
        <Button
          kind="primary"
          busy={busy}
          disabled={row.lastTest?.ok !== true}
          onClick={() => onChange({ status: 'ACTIVE' }, 'Switched on.')}
        >
          Switch on
        </Button>
      )}
      {is_active && (
        <Button busy={busy} onClick={() => onChange({ enforce: !row.enforce }, 'Changed.')}>
          {row.enforce ? 'Allow passwords' : 'Refuse passwords'}
        </Button>
      )}
      <Button onClick={() => onOpen('edit')}>Change…</Button>
      <Button onClick={() => onOpen('remove')}>Take away…</Button>
    </div>
  );
}

function Nothing({ onConnect, is_ready }: { onConnect: () => void; is_ready: boolean }) {
  return (
    <Empty title="No identity provider">
      {is_ready
        ? 'Register this service at your provider, then connect it here.'
        : 'Add a mail domain first: then the addresses for your provider stand here.'}
      {is_ready && (
        <Button kind="primary" onClick={onConnect}>
          Connect a provider
        </Button>
      )}
    </Empty>
  );
}

export function ConnectionCard(props: {
  facts: SignOnFactsFragment | undefined;
  onDone: (said: string) => void;
}) {
  const { facts, onDone } = props;
  const mutate = useMutate();
  const proof = useProof();
  const { act, busy, fault } = useAction();
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const row = facts?.connection ?? null;
  const change = async (part: Change, said: string) => {
    if (row === null) return;
    const input = { ...inputOf(row), ...part };
    const done = await act(() => proof.run(() => mutate(PutSsoDocument, input)));
    if (done !== null) onDone(said);
  };
  const finish = (said: string) => {
    setOpen(null);
    onDone(said);
  };
  const state = row === null ? null : states[row.status];
  return (
    <Card title="Identity provider" note={state && <Status tone={state[0]}>{state[1]}</Status>}>
      {facts === undefined && <Bone width={280} />}
      {facts && row === null && (
        <Nothing is_ready={Boolean(facts.serviceProvider)} onConnect={() => setOpen('edit')} />
      )}
      {facts && row && (
        <>
          <Facts row={row} addresses={facts.serviceProvider ?? null} />
          <FormFault fault={fault} />
          <Actions
            row={row}
            busy={busy}
            onChange={(part, said) => void change(part, said)}
            onOpen={setOpen}
          />
        </>
      )}
      {open === 'edit' && (
        <ConnectionDialog
          row={row}
          addresses={facts?.serviceProvider ?? null}
          onClose={() => setOpen(null)}
          onDone={() => finish(row === null ? 'Saved as a draft. Try it out.' : 'Saved.')}
        />
      )}
      {open === 'remove' && row && <RemoveDialog row={row} onClose={() => setOpen(null)} onDone={finish} />}
      {proof.dialog}
    </Card>
  );
}
