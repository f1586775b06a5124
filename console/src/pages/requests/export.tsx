// The calls of the filters as a CSV file, read page by page: the button says how far it is, and pressed again it stops.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { RequestsDocument, type RequestsQueryVariables } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { saveText } from '../../ui/save-file.ts';
import { csvOf } from './csv.ts';
import { OLDER_PAGE, type ReadRow } from './use-requests.ts';

/** More than a spreadsheet is looked through for, and read in some ten seconds. */
const ROWS_MAX = 10_000;

function useExport(variables: RequestsQueryVariables, name: string) {
  const client = useClient();
  const [count, setCount] = useState<number | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const running = useRef(false);
  const stop = () => {
    running.current = false;
    setCount(null);
  };
  useEffect(() => {
    return () => {
      running.current = false;
    };
  }, []);
  const start = async () => {
    running.current = true;
    setFault(null);
    setCount(0);
    const rows: ReadRow[] = [];
    let after: string | null = null;
    do {
      const page: RequestsQueryVariables = { ...variables, first: OLDER_PAGE, after };
      const { data, error } = await client
        .query(RequestsDocument, page, { requestPolicy: 'network-only' })
        .toPromise();
      if (!running.current) return;
      if (error || !data?.requests) {
        if (error) setFault(faultOfQuery(error));
        return stop();
      }
      rows.push(...data.requests.nodes);
      setCount(rows.length);
      const { hasNextPage, endCursor } = data.requests.pageInfo;
      after = hasNextPage && rows.length < ROWS_MAX ? (endCursor ?? null) : null;
    } while (after !== null);
    saveText(csvOf(rows, new Map(rows.flatMap(({ keyId, key }) => (key ? [[keyId, key.name]] : [])))), name);
    stop();
  };
  return { start, stop, count, fault };
}

export function ExportButton({ variables, name }: { variables: RequestsQueryVariables; name: string }) {
  const { start, stop, count, fault } = useExport(variables, name);
  const title = `Calls that match the filters, the newest ${countText(ROWS_MAX)} at most`;
  return (
    <>
      {fault && (
        <span className="fault" role="alert">
          {fault.message}
        </span>
      )}
      <Button icon="download" title={title} onClick={() => (count === null ? void start() : stop())}>
        {count === null ? 'Export CSV' : `Stop, ${countText(count)} read`}
      </Button>
    </>
  );
}
