// The secret of a new key, shown once. Closing asks for confirmation until it was copied.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { base_url } from '../../api/boot.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RouteLink, ShortFeed } from '../../ui/feed.tsx';
import { spendText } from '../../ui/format/money.ts';
import { SnippetTabs } from '../../ui/snippet-tabs.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { useFeed } from '../../ui/use-feed.ts';
import type { NewKey } from './create.ts';
import { scopeWord } from './scopes.ts';
import { useSnippetModel } from './snippet-model.ts';

/** What a dialog that makes a key tells the page. */
export interface MakesKey {
  readonly onClose: () => void;
  readonly onMade: () => void;
  /** A call with the key `id` arrived, at `ts`. The list of keys learns of it only later. */
  readonly onUsed: (id: string, ts: string) => void;
}

function Settings({ made }: { made: NewKey }) {
  const { key } = made;
  const { dailyMicro, hard } = key.budget;
  return (
    <p className="key-settings sub">
      <span>
        <b>{key.name}</b> in {key.project?.name ?? 'its project'}
      </span>
      <span>{key.scopes.map(scopeWord).join(', ')}</span>
      <span>{key.expiresAt === null ? 'no expiry' : `until ${key.expiresAt?.slice(0, 10)}`}</span>
      <span>{dailyMicro ? `${spendText(dailyMicro)} a day, ${hard ? 'hard' : 'soft'}` : 'no budget'}</span>
    </p>
  );
}

/** Asked once when somebody leaves without having copied. */
function CloseQuestion({ onClose, onStay }: { onClose: () => void; onStay: () => void }) {
  return (
    <div className="key-ask" role="alert">
      <span className="grow">The key can’t be shown again. Close without copying it?</span>
      <Button onClick={onStay}>Keep it open</Button>
      <Button kind="danger" onClick={onClose}>
        Close
      </Button>
    </div>
  );
}

function Secret({
  made,
  asking,
  onCopied,
  onClose,
  onStay,
  onUsed,
}: {
  made: NewKey;
  asking: boolean;
  onCopied: () => void;
  onClose: () => void;
  onStay: () => void;
  onUsed: MakesKey['onUsed'];
}) {
  const copy = useRef<HTMLButtonElement>(null);
  useEffect(() => copy.current?.focus(), []);
  const feed = useFeed({ read: undefined, key_id: made.key.id });
  const [row] = feed.rows;
  const model = useSnippetModel(made.secret);
  useEffect(() => {
    if (row !== undefined) onUsed(made.key.id, row.ts);
  }, [row, made.key.id, onUsed]);
  return (
    <>
      <div className="secret key-secret">
        <code>{made.secret}</code>
        <CopyButton ref={copy} text={made.secret} what="the key" primary onCopied={onCopied} />
      </div>
      <Settings made={made} />
      {model === null ? (
        <div className="snippet-room" />
      ) : (
        <SnippetTabs base_url={base_url} model={model} secret={made.secret} />
      )}
      {row && (
        <div className="key-arrived">
          <Table name="First call of this key">
            <ShortFeed rows={[row]} fresh={feed.fresh} />
          </Table>
        </div>
      )}
      {asking ? (
        <CloseQuestion onClose={onClose} onStay={onStay} />
      ) : (
        <div className="dialog-foot">
          <span className="grow" role="status">
            <Status tone="ok" shape={row ? 'ok' : 'run'} plain>
              {row ? 'The first call has arrived' : 'Waiting for this key’s first call'}
            </Status>
          </span>
          {row && <RouteLink row={row} />}
          <Button onClick={onClose}>I have stored it</Button>
        </div>
      )}
    </>
  );
}

/**
 * The dialog in which a key is made: `children` until it is, then its secret. It is one dialog throughout, so that the
 * focus goes back to where it was before the first step.
 */
export function KeyDialog(props: {
  made: NewKey | null;
  title: string;
  note?: string;
  onClose: () => void;
  onUsed: MakesKey['onUsed'];
  children: ReactNode;
}) {
  const { made, title, note, onClose, onUsed, children } = props;
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  return (
    <Dialog
      title={made === null ? title : 'Copy your key now'}
      note={made === null ? note : 'We keep only its fingerprint, so it can’t be shown again.'}
      size={made === null ? 480 : 560}
      // Escape and a press outside.
      onClose={() => (made === null || copied || asking ? onClose() : setAsking(true))}
    >
      {made === null ? (
        children
      ) : (
        <Secret
          made={made}
          asking={asking}
          onCopied={() => setCopied(true)}
          onClose={onClose}
          onStay={() => setAsking(false)}
          onUsed={onUsed}
        />
      )}
    </Dialog>
  );
}
