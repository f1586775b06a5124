// The list of provider keys, and what can be done with each.
import { Menu } from '@mantine/core';
import type { ProviderKeyRowFragment } from '../../api/gen/tools/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { BoneRows } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { fallbackText, type Provider, providerName, standingOf } from './words.ts';

type Row = ProviderKeyRowFragment;

export type KeyAct = 'try' | 'edit' | 'secret' | 'delete';
type OnAct = (act: KeyAct, row: Row) => void;

function Actions({ row, name, onAct }: { row: Row; name: string; onAct: OnAct }) {
  return (
    <Menu
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      width={190}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <Button kind="quiet" icon="dots" aria-label={`Actions for ${name}`} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onAct('try', row)}>Try it</Menu.Item>
        <Menu.Item onClick={() => onAct('edit', row)}>Edit…</Menu.Item>
        <Menu.Item onClick={() => onAct('secret', row)}>Replace the key…</Menu.Item>
        <Menu.Item data-danger onClick={() => onAct('delete', row)}>
          Delete…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Line({ row, provider, onAct }: { row: Row; provider: string; onAct: OnAct | null }) {
  const { word, ...mark } = standingOf(row);
  return (
    <tr>
      <td className="byok-name">
        <div className="two">
          <div className="ellipsis" title={provider}>
            {provider}
          </div>
          {row.label !== '' && (
            <div className="sub ellipsis" title={row.label}>
              {row.label}
            </div>
          )}
        </div>
      </td>
      <td className="mono" data-label="Ends in">
        {row.hint}
      </td>
      <td data-label="State">
        <Status {...mark}>{word}</Status>
      </td>
      <td className="soft" data-label="When it cannot answer">
        {fallbackText(row.fallbackToPool)}
      </td>
      <td className="soft" data-label="Last accepted">
        <Time at={row.validatedAt} never="never" />
      </td>
      <td className="soft" data-label="Last used">
        <Time at={row.lastUsedAt} never="never" />
      </td>
      <td className="byok-acts">
        {onAct && <Actions row={row} name={`${provider} ${row.label}`.trim()} onAct={onAct} />}
      </td>
    </tr>
  );
}

/** `rows` undefined: they are being read; `onAct` null for who may not change them, or not here. */
export function ProviderKeysTable(props: {
  rows: readonly Row[] | undefined;
  providers: readonly Provider[];
  onAct: OnAct | null;
}) {
  const { rows, providers, onAct } = props;
  return (
    <Table name="List of provider keys" busy={rows === undefined} stacks>
      <Columns
        of={[
          'Provider',
          'Ends in',
          'State',
          'When it cannot answer',
          'Last accepted',
          'Last used',
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={7} />
        ) : (
          rows.map((row) => (
            <Line key={row.id} row={row} provider={providerName(providers, row.providerId)} onAct={onAct} />
          ))
        )}
      </tbody>
    </Table>
  );
}
