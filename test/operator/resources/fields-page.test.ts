import { join } from 'node:path'
import { expect, it } from 'vitest'
import { resourceFieldsPage } from '../../support/resource-fields-page.ts'

// `npx vitest run --project unit -u test/operator/resources/fields-page.test.ts` writes the page.
it('docs/resources.md lists all fields, with their stability', async () => {
  await expect(resourceFieldsPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../../docs/resources.md'))
})
