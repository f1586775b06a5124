// The field for an invite code.
import { TextField } from '../../ui/field.tsx';

export function InviteCodeField() {
  return (
    <TextField
      label="Invite code"
      name="invite_code"
      maxLength={64}
      autoCapitalize="characters"
      autoComplete="off"
      spellCheck={false}
      hint="INV- and four groups of four."
      required
    />
  );
}
