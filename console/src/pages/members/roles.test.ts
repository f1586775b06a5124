import { expect, test } from 'vitest';
import { grantableRoles, mayTouch, nameOf, roleOf, roles } from './roles.ts';

test('owners are made and touched by owners alone', () => {
  expect(grantableRoles('owner')).toEqual(roles);
  expect(grantableRoles('admin')).toEqual(['admin', 'developer', 'billing', 'viewer']);
  expect([mayTouch('admin', 'owner'), mayTouch('owner', 'owner'), mayTouch('admin', 'admin')]).toEqual([
    false,
    true,
    true,
  ]);
});

test('whoever does not manage members gives no role and touches nobody', () => {
  for (const role of ['developer', 'billing', 'viewer'] as const) {
    expect(grantableRoles(role)).toEqual([]);
    expect(mayTouch(role, 'viewer')).toBe(false);
  }
});

test('a role has one name on each side', () => {
  for (const role of roles) expect(roleOf(nameOf(role))).toBe(role);
});
