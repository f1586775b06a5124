// The receipt of an erasure: what was done, and the digest by which whoever has exported the end user before can check it.
import type { SubjectRowFragment } from '../../api/gen/tools/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { IdText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { Time } from '../../ui/time.tsx';
import { saveReceipt } from './save.ts';

type Receipt = NonNullable<SubjectRowFragment['receipt']>;

function Facts({ row, receipt }: { row: SubjectRowFragment; receipt: Receipt }) {
  const facts = [
    ['Request', <IdText key="id" id={row.id} />],
    ['Hash of the end user', <IdText key="hash" id={row.subjectHash} />],
    ['Calls unlinked', countText(receipt.records)],
    ['Stored content deleted', countText(receipt.payloadsDeleted)],
    ['Done', <Time key="at" at={receipt.completedAt} />],
    ['SHA-256 of the ids of these calls', <IdText key="digest" id={receipt.digest} />],
  ] as const;
  return (
    <dl className="privacy-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function ReceiptDialog(props: { row: SubjectRowFragment; receipt: Receipt; onClose: () => void }) {
  const { row, receipt, onClose } = props;
  return (
    <Dialog
      title="Receipt of the erasure"
      note="The ids of the calls are kept nowhere. An export from before has them, and proves the digest."
      onClose={onClose}
    >
      <Facts {...{ row, receipt }} />
      <div className="dialog-foot">
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
        <Button kind="primary" icon="download" onClick={() => saveReceipt(row)}>
          Save the receipt
        </Button>
      </div>
    </Dialog>
  );
}
