// Provider keys: those that the organisation brings, so that a provider bills it itself.
import './byok.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type ProviderKeyRowFragment,
  ProviderKeysDocument,
  ValidateByokDocument,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { AddDialog, DeleteDialog, EditDialog, SecretDialog } from './dialogs.tsx';
import { type KeyAct, ProviderKeysTable } from './table.tsx';
import { callName, costText, type Mark, type Provider, providerName, triedMark } from './words.ts';

type Row = ProviderKeyRowFragment;
type Doing = { readonly act: 'add' } | { readonly act: Exclude<KeyAct, 'try'>; readonly row: Row };

/** The keys and the providers. */
function useProviderKeys() {
  const [{ data, error }, again] = useQuery({
    query: ProviderKeysDocument,
    requestPolicy: 'cache-and-network',
  });
  const list = data?.byok ?? undefined;
  return { list, error, reread: () => again({ requestPolicy: 'network-only' }) };
}

/** Trying a key: what is said of it while the provider is asked, and then what it answered, after `before`. */
function useTry(onSaid: (said: Mark | null) => void, reread: () => void) {
  const { send, fault } = useSend();
  const tryIt = async (row: Row, provider: string, before = '') => {
    onSaid({ tone: 'mute', shape: 'run', word: `${before} Asking ${provider} about the key…`.trim() });
    const done = await send(ValidateByokDocument, { id: row.id });
    if (done === null) return onSaid(before === '' ? null : { tone: 'ok', word: before });
    const { tone, word } = triedMark(done, provider);
    onSaid({ tone, word: `${before} ${word}`.trim() });
    reread();
  };
  return { tryIt, fault };
}

function SandboxNote() {
  const { slug } = useOrg();
  return (
    <p className="note soft">
      <span>
        These keys answer live calls alone, so they are not changed here.{' '}
        <Link className="link" to="/$org/$env/byok" params={{ org: slug, env: 'live' }}>
          Change them in Live
        </Link>
      </span>
    </p>
  );
}

function NotAllowed() {
  const { role } = useOrg();
  return (
    <Card>
      <Empty title="Provider keys are not for your role">
        Your role, {role}, may not see or change provider keys. Ask an owner, admin or developer.
      </Empty>
    </Card>
  );
}

function None({ fee_bps, button }: { fee_bps: number; button: ReactNode }) {
  return (
    <Empty title="No provider key yet" actions={button || undefined}>
      Calls are answered with the gateway’s keys. With one of your own they go to that provider on your
      account. {costText(fee_bps)}
    </Empty>
  );
}

/** The dialog of what is being done. */
function ActDialog(props: {
  doing: Doing;
  providers: readonly Provider[];
  fee_bps: number;
  onClose: () => void;
  onDone: (said: string, tried?: Row) => void;
}) {
  const { doing, providers, fee_bps, onClose, onDone } = props;
  if (doing.act === 'add')
    return <AddDialog {...{ providers, fee_bps, onClose }} onAdded={(row) => onDone('It is stored.', row)} />;
  const { act, row } = doing;
  const of = { row, provider: providerName(providers, row.providerId), onClose };
  const name = callName(row, of.provider);
  if (act === 'edit') return <EditDialog {...of} onDone={() => onDone('The key was changed.')} />;
  if (act === 'delete') return <DeleteDialog {...of} onDone={() => onDone(`The key ${name} was deleted.`)} />;
  return <SecretDialog {...of} onDone={(changed) => onDone('It is replaced.', changed)} />;
}

function Keys() {
  const { env } = useOrg();
  const { list, error, reread } = useProviderKeys();
  const [doing, setDoing] = useState<Doing | null>(null);
  const [said, setSaid] = useState<Mark | null>(null);
  const { tryIt, fault } = useTry(setSaid, reread);
  const changes = env === 'live';
  const [providers, fee_bps] = [list?.providers ?? [], list?.feeBps ?? 0];
  const ready = changes && list !== undefined;
  useShortcuts(ready ? { c: () => setDoing({ act: 'add' }) } : {});
  const nameAt = (row: Row) => providerName(providers, row.providerId);
  const onDone = (word: string, tried?: Row) => {
    setDoing(null);
    reread();
    if (tried === undefined) setSaid({ tone: 'ok', word });
    else void tryIt(tried, nameAt(tried), word);
  };
  const onAct = (act: KeyAct, row: Row) =>
    act === 'try' ? void tryIt(row, nameAt(row)) : setDoing({ act, row });
  const button = ready && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setDoing({ act: 'add' })}>
      Add provider key
    </Button>
  );
  return (
    <>
      <PageHead title="Provider keys" actions={button}>
        <p role="status" className="byok-said">
          {said ? (
            <Status tone={said.tone} shape={said.shape ?? said.tone} plain>
              {said.word}
            </Status>
          ) : (
            'Your own keys at providers. Calls use them before the gateway’s.'
          )}
        </p>
      </PageHead>
      <div className="stack">
        <Card flush>
          {!changes && <SandboxNote />}
          {fault && <ErrorBox fault={fault} />}
          {error && !list && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
          {list?.keys.length === 0 && <None fee_bps={fee_bps} button={button} />}
          {!(error && !list) && list?.keys.length !== 0 && (
            <ProviderKeysTable rows={list?.keys} providers={providers} onAct={changes ? onAct : null} />
          )}
        </Card>
        {list && list.keys.length > 0 && <p className="sub">{costText(fee_bps)}</p>}
      </div>
      {doing && <ActDialog {...{ doing, providers, fee_bps, onDone }} onClose={() => setDoing(null)} />}
    </>
  );
}

export function ProviderKeysPage() {
  const { role } = useOrg();
  if (may(role, 'keys')) return <Keys />;
  return (
    <>
      <PageHead title="Provider keys">
        <p>Your own keys at providers. Calls use them before the gateway’s.</p>
      </PageHead>
      <NotAllowed />
    </>
  );
}
