// Where the registration of a document stands: its number at the portal, which can be copied whole, or why there is none.
import { IdText } from '../../ui/copy.tsx';

interface Registered {
  readonly irnStatus: string;
  readonly irn?: string | null;
}

/** Nothing for a document that needs no registration. */
export function Registration({ row }: { row: Registered }) {
  if (row.irn) {
    return (
      <span className="sub">
        IRN <IdText id={row.irn} short />
      </span>
    );
  }
  if (row.irnStatus === 'pending') return <span className="sub">waits for its IRN</span>;
  return row.irnStatus === 'failed' ? <span className="sub">without an IRN</span> : null;
}
