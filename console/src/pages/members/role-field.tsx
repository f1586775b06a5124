// Choosing a role, with what it may do beside it.
import { useState } from 'react';
import type { Role } from '../../api/session.ts';
import { SelectField } from '../../ui/field.tsx';
import { roleWords } from './roles.ts';

export function RoleField({ of, first }: { of: readonly Role[]; first: Role }) {
  const [role, setRole] = useState(first);
  return (
    <SelectField
      label="Role"
      name="role"
      value={role}
      hint={roleWords[role]}
      onChange={({ target }) => setRole(target.value as Role)}
    >
      {of.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </SelectField>
  );
}
