// The export of the organisation, for its owners: making one, downloading it while its link lives, and those before.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  CreateOrgExportDocument,
  type OrgExportRowFragment,
  OrgExportsDocument,
} from '../../api/gen/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { isOpen } from './exports.ts';

const PAGE = 5;

function useExports(id: string) {
  const client = useClient();
  const variables = { id, first: PAGE };
  const [{ data, error }, again] = useQuery({
    ...{ query: OrgExportsDocument, variables },
    requestPolicy: 'cache-and-network',
  });
  const older = useOlder(data?.orgExports, async (after) => {
    const { data: page, error } = await client.query(OrgExportsDocument, { ...variables, after }).toPromise();
    return { page: page?.orgExports, error };
  });
  return { ...older, error, read: () => again({ requestPolicy: 'network-only' }) };
}

function Line({ row, user_id }: { row: OrgExportRowFragment; user_id: string }) {
  return (
    <tr>
      <td data-label="Made">
        <Time at={row.createdAt} />
      </td>
      <td data-label="By">{row.createdBy === user_id ? 'you' : <IdText id={row.createdBy} short />}</td>
      <td className="n" data-label="Downloads">
        {countText(row.downloads)}
      </td>
      <td className="soft" data-label="Until">
        <Time at={row.expiresAt} />
      </td>
      <td>
        {isOpen(row, new Date()) ? (
          <a className="link" href={row.path} download aria-label={`Download ${row.id}`}>
            Download
          </a>
        ) : (
          <span className="faint">over</span>
        )}
      </td>
    </tr>
  );
}

const columns = [
  ...['Made', 'By'],
  { name: 'Downloads', className: 'n' },
  'Until',
  { name: 'Download', hidden: true },
] as const;

function List({ exports, user_id }: { exports: ReturnType<typeof useExports>; user_id: string }) {
  const { rows, error, read, ...older } = exports;
  if (error && !rows) return <ErrorBox fault={faultOfQuery(error)} onRetry={read} />;
  if (rows?.length === 0)
    return (
      <Empty title="No export was made">
        An export is a ZIP with everything of this organisation: people, keys without their secrets, policies,
        calls with stored content, ledger and invoices.
      </Empty>
    );
  return (
    <>
      <Table name="Exports" busy={rows === undefined} stacks>
        <Columns of={columns} />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={1} columns={columns.length} />
          ) : (
            rows.map((row) => <Line key={row.id} row={row} user_id={user_id} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="exports" {...older} />
    </>
  );
}

export function ExportCard({ user_id }: { user_id: string }) {
  const { id } = useOrg();
  const mutate = useMutate();
  const { act, busy, fault } = useAction();
  const [said, setSaid] = useState('');
  const exports = useExports(id);
  const make = async () => {
    setSaid('');
    const made = await act(() => mutate(CreateOrgExportDocument, { id }));
    if (made === null) return;
    setSaid('The export is below. It can be downloaded for 24 hours; the owners get a mail.');
    exports.read();
  };
  const button = (
    <Button icon="download" busy={busy} onClick={() => void make()}>
      Make an export
    </Button>
  );
  return (
    <Card title="Export" note="everything of this organisation" more={button} flush>
      <p className="settings-said" role="status">
        {said}
      </p>
      <div className="settings-fault">
        <FormFault fault={fault} />
      </div>
      <List exports={exports} user_id={user_id} />
    </Card>
  );
}
