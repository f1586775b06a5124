// A document by its number, which saves its PDF when it is pressed.
import { useState } from 'react';
import type { Fault } from '../../api/errors.ts';
import { useOrg } from '../../app/org.tsx';
import { type DocumentName, savePdf, savePdfAsStaff } from './file.ts';

function SavingLink(props: { row: DocumentName; save: (row: DocumentName) => Promise<Fault | null> }) {
  const { row, save } = props;
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const press = async () => {
    if (busy) return;
    setBusy(true);
    setFault(await save(row));
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        className="link"
        title="Download the PDF"
        aria-label={`Download ${row.number}`}
        aria-busy={busy || undefined}
        onClick={() => void press()}
      >
        {row.number}
      </button>
      {fault && (
        <span className="fault" role="alert">
          {fault.message}
        </span>
      )}
    </>
  );
}

/** A document of the organization of the page. */
export function DocumentLink({ row }: { row: DocumentName }) {
  const { id } = useOrg();
  return <SavingLink row={row} save={(row) => savePdf(id, row)} />;
}

/** A document of any organization, for staff. */
export function StaffDocumentLink({ row }: { row: DocumentName }) {
  return <SavingLink row={row} save={savePdfAsStaff} />;
}
