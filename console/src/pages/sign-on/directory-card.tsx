// The directory: where it sends its requests, its tokens, and what it asked last.
import { useState } from 'react';
import {
  CreateScimTokenDocument,
  DeleteScimTokenDocument,
  type ScimTokenRowFragment,
  type SignOnFactsFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Bone, Empty, FormFault } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ScimLog } from './scim-log.tsx';

function Tokens(props: {
  rows: readonly ScimTokenRowFragment[];
  onEnd: (row: ScimTokenRowFragment) => void;
}) {
  const { rows, onEnd } = props;
  if (rows.length === 0)
    return (
      <Empty title="No directory yet">A token lets Entra ID, Okta or another directory see to members.</Empty>
    );
  return (
    <Table name="Tokens of the directory">
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Made</th>
          <th scope="col">Last used</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              <code>{row.hint}</code>
            </td>
            <td className="soft">
              <Time at={row.createdAt} />
            </td>
            <td className="soft">{row.lastUsedAt ? <Time at={row.lastUsedAt} /> : 'never'}</td>
            <td>
              <div className="sign-on-actions">
                <Button kind="quiet" onClick={() => onEnd(row)}>
                  End<span className="visually-hidden"> {row.hint}</span>
                </Button>
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function MadeDialog({ token, url, onClose }: { token: string; url: string; onClose: () => void }) {
  return (
    <Dialog
      title="Give both to your directory"
      note="The token is shown now and never again."
      size={520}
      onClose={onClose}
    >
      <dl className="sign-on-facts">
        <div>
          <dt>Address</dt>
          <dd>
            <code>{url}</code> <CopyButton text={url} what="the address" />
          </dd>
        </div>
        <div>
          <dt>Token</dt>
          <dd>
            <code>{token}</code> <CopyButton text={token} what="the token" />
          </dd>
        </div>
      </dl>
      <div className="dialog-foot">
        <Button kind="primary" onClick={onClose} data-autofocus>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

function EndDialog(props: {
  row: ScimTokenRowFragment;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const end = async () => {
    const ended = await send(DeleteScimTokenDocument, { id: row.id });
    if (ended !== null) onDone(`The token ${row.hint} has ended.`);
  };
  return (
    <Dialog
      title={`End the token ${row.hint}?`}
      note="A directory that uses it sees to nobody any more. Members stay as they are."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <div className="dialog-foot">
        <Button onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button kind="danger" busy={busy} onClick={() => void end()}>
          End it
        </Button>
      </div>
    </Dialog>
  );
}

export function DirectoryCard(props: {
  facts: SignOnFactsFragment | undefined;
  onDone: (said: string) => void;
}) {
  const { facts, onDone } = props;
  const { send, busy, fault } = useSend();
  const [made, setMade] = useState<{ token: string; url: string } | null>(null);
  const [ending, setEnding] = useState<ScimTokenRowFragment | null>(null);
  const make = async () => {
    const answer = await send(CreateScimTokenDocument, {});
    if (answer !== null) setMade(answer);
  };
  const close = (said: string) => {
    setMade(null);
    setEnding(null);
    onDone(said);
  };
  return (
    <Card
      title="Directory"
      note="makes people members by SCIM, and takes them out"
      flush
      more={
        <Button busy={busy} onClick={() => void make()}>
          Make a token
        </Button>
      }
    >
      <FormFault fault={fault} />
      {facts === undefined ? <Bone width="60%" /> : <Tokens rows={facts.scimTokens} onEnd={setEnding} />}
      {facts !== undefined && facts.scimTokens.length > 0 && <ScimLog url={facts.scimUrl} />}
      {made && <MadeDialog token={made.token} url={made.url} onClose={() => close('The token was made.')} />}
      {ending && <EndDialog row={ending} onClose={() => setEnding(null)} onDone={close} />}
    </Card>
  );
}
