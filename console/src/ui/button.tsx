// One button. While its work runs it is busy and takes no second press, but keeps its place and its focus.
import type { ComponentPropsWithRef, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface Looks {
  kind?: 'default' | 'primary' | 'danger' | 'quiet';
  icon?: IconName;
  busy?: boolean;
  children?: ReactNode;
}

export function Button({
  kind = 'default',
  icon,
  busy = false,
  children,
  className,
  onClick,
  type = 'button',
  ...rest
}: Looks & ComponentPropsWithRef<'button'>) {
  const classes = ['btn', kind === 'default' ? '' : kind, children ? '' : 'icon-only', className ?? ''];
  return (
    <button
      {...rest}
      type={type}
      className={classes.filter(Boolean).join(' ')}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {busy ? <span className="btn-wait" aria-hidden="true" /> : icon && <Icon name={icon} size={15} />}
      {children}
    </button>
  );
}
