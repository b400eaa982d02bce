import { join } from 'node:path'
import { expect, it } from 'vitest'
import { programAclsPage } from './support/acls-page.ts'

it('docs/acls.md lists the ACLs that the programs are tested with', async () => {
  await expect(programAclsPage()).toMatchFileSnapshot(join(import.meta.dirname, '../docs/acls.md'))
})
