// What the directory asked last, and why something was refused.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { ScimLogDocument, type ScimLogLineFragment } from '../../api/gen/tools/graphql.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 20;

/** The status, and the reason where it says more. */
function wordsOf({ status, reason }: ScimLogLineFragment): string {
  return reason === '' || reason === String(status) ? String(status) : `${status} ${reason}`;
}

function Line({ row }: { row: ScimLogLineFragment }) {
  const is_done = row.status < 400;
  return (
    <tr>
      <td className="soft">
        <Time at={row.at} />
      </td>
      <td>{row.method}</td>
      <td className="scim-path">
        <code>{row.path}</code>
      </td>
      <td>
        <Status tone={is_done ? 'ok' : 'bad'}>{wordsOf(row)}</Status>
      </td>
    </tr>
  );
}

export function ScimLog({ url }: { url: string }) {
  const [{ data, error }, again] = useQuery({
    query: ScimLogDocument,
    variables: { first: SHOWN },
    requestPolicy: 'cache-and-network',
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  const rows = data?.scimLog?.nodes;
  return (
    <>
      <dl className="sign-on-facts scim-address">
        <div>
          <dt>Address</dt>
          <dd>
            <code>{url}</code> <CopyButton text={url} what="the address of the directory" />
          </dd>
        </div>
      </dl>
      {rows?.length === 0 ? (
        <Empty title="Nothing was asked yet">
          Requests of the directory stand here, also those that are refused.
        </Empty>
      ) : (
        <Table name="Requests of the directory" busy={rows === undefined}>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Method</th>
              <th scope="col">Path</th>
              <th scope="col">Answer</th>
            </tr>
          </thead>
          <tbody>
            {rows === undefined ? (
              <BoneRows rows={3} columns={4} />
            ) : (
              rows.map((row) => <Line key={row.id} row={row} />)
            )}
          </tbody>
        </Table>
      )}
    </>
  );
}
