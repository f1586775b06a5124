// Batches of codes: made, watched and ended here.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type BatchFragment,
  CloseRedeemBatchDocument,
  RedeemBatchesDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useShortcuts } from '../../../app/shortcuts.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { CreateBatchDialog } from './create-dialog.tsx';

const PAGE = 50;

function State({ row, now }: { row: BatchFragment; now: Date }) {
  if (row.closedAt) return <Status tone="mute">stopped</Status>;
  if (Date.parse(row.validUntil) <= now.getTime()) return <Status tone="mute">over</Status>;
  return <Status tone="ok">open</Status>;
}

function forText(row: BatchFragment): string {
  const parts = [
    row.country ? `in ${row.country}` : '',
    row.newOrgOnly ? 'new ones only' : '',
    row.maxPerOrg === 1 ? '' : `${countText(row.maxPerOrg)} each`,
  ].filter(Boolean);
  return parts.length === 0 ? 'any organization, one each' : parts.join(', ');
}

function Line({ row, onStop }: { row: BatchFragment; onStop: (() => void) | null }) {
  const now = useNow();
  const open = !row.closedAt && Date.parse(row.validUntil) > now.getTime();
  return (
    <tr>
      <td className="mono">{row.name}</td>
      <td data-label="State">
        <State row={row} now={now} />
      </td>
      <td className="n" data-label="Each">
        <Money micro={row.amountMicroUsd} as="spend" />
      </td>
      <td className="n" data-label="Redeemed">
        {countText(row.redeemed)} <span className="soft">of {countText(row.codes)}</span>
      </td>
      <td className="soft" data-label="For">
        {forText(row)}
      </td>
      <td className="soft" data-label="Until">
        <Time at={row.validUntil} />
      </td>
      <td className="soft" data-label="Made by">
        {row.createdBy}, <Time at={row.createdAt} />
      </td>
      <td className="n">
        {onStop && open && (
          <Button onClick={onStop} aria-label={`Stop ${row.name}`}>
            Stop…
          </Button>
        )}
      </td>
    </tr>
  );
}

function StopDialog(props: { row: BatchFragment; onClose: () => void; onDone: () => void }) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const stop = async () => {
    const done = await send(CloseRedeemBatchDocument, { name: row.name });
    if (done !== null) onDone();
  };
  return (
    <Dialog
      title={`Stop ${row.name}`}
      note={`None of its ${countText(row.codes - row.redeemed)} open codes is taken any more, and it cannot be opened again. Credit that was redeemed stays.`}
      size={480}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} kind="danger" busy={busy} onPress={() => void stop()}>
        Stop this batch
      </DialogFoot>
    </Dialog>
  );
}

function Batches({
  rows,
  onStop,
}: {
  rows: readonly BatchFragment[] | undefined;
  onStop: ((row: BatchFragment) => void) | null;
}) {
  return (
    <Table name="Batches of codes" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Name',
          'State',
          { name: 'Each', className: 'n' },
          { name: 'Redeemed', className: 'n' },
          'For',
          'Until',
          'Made by',
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={3} columns={8} />
        ) : (
          rows.map((row) => <Line key={row.name} row={row} onStop={onStop && (() => onStop(row))} />)
        )}
      </tbody>
    </Table>
  );
}

export function CodesPage() {
  const client = useClient();
  const may = useMay('finance');
  const [{ data, error }, again] = useQuery({ query: RedeemBatchesDocument, variables: { first: PAGE } });
  const [making, setMaking] = useState(false);
  const [stopping, setStopping] = useState<BatchFragment | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.redeemBatches, async (after) => {
    const { data: page, error } = await client
      .query(RedeemBatchesDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.redeemBatches, error };
  });
  useShortcuts(may ? { c: () => setMaking(true) } : {});
  const done = () => {
    setMaking(false);
    setStopping(null);
    reread();
  };
  const button = may && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setMaking(true)}>
      Make a batch…
    </Button>
  );
  return (
    <>
      <PageHead title="Codes" actions={button}>
        <p>Credit that is handed out by codes, a batch at a time.</p>
      </PageHead>
      <Card title="Batches" flush>
        {error && !data?.redeemBatches && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {rows?.length === 0 && <Empty title="No batch yet">Its codes are shown once, when it is made.</Empty>}
        {!error && (rows === undefined || rows.length > 0) && (
          <>
            <Batches rows={rows} onStop={may ? setStopping : null} />
            <OlderFoot shown={rows?.length ?? 0} what="batches" {...older} />
          </>
        )}
      </Card>
      {making && <CreateBatchDialog onClose={() => setMaking(false)} onDone={done} />}
      {stopping && <StopDialog row={stopping} onClose={() => setStopping(null)} onDone={done} />}
    </>
  );
}
