// What the page shows as a CSV file, with every figure: read anew, because the page reads only what it draws.
import { useClient } from 'urql';
import { faultOfQuery, offlineFault } from '../../api/errors.ts';
import { UsageExportDocument, type UsageExportQueryVariables } from '../../api/gen/tools/graphql.ts';
import { useAction } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { saveText } from '../../ui/save-file.ts';
import { csvOf } from './figures.ts';

interface Props {
  readonly variables: UsageExportQueryVariables;
  readonly nameOfKey: (key: string) => string;
  /** What the file is called. */
  readonly name: string;
}

export function ExportButton({ variables, nameOfKey, name }: Props) {
  const client = useClient();
  const { act, busy, fault } = useAction();
  const save = async () => {
    const rows = await act(async () => {
      const asked = client.query(UsageExportDocument, variables, { requestPolicy: 'network-only' });
      const { data, error } = await asked.toPromise();
      if (!data?.usage) return { ok: false, fault: error ? faultOfQuery(error) : offlineFault };
      return { ok: true, value: data.usage.groupSeries ?? [] };
    });
    if (rows !== null) saveText(csvOf(rows, nameOfKey), name);
  };
  return (
    <>
      {fault && (
        <span className="fault" role="alert">
          {fault.message}
        </span>
      )}
      <Button icon="download" busy={busy} onClick={() => void save()}>
        Export CSV
      </Button>
    </>
  );
}
