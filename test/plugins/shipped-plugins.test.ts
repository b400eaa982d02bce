import { expect, it } from 'vitest'
import { toDescriptor } from '../../src/plugins/plugin-descriptor.ts'
import { importShipped, shippedPlugins } from '../../src/plugins/shipped-plugins.ts'
import { SHIPPED } from '../support/shipped-plugins.ts'

it('every shipped plugin is described, and imported as it is described', async () => {
  const shipped = await shippedPlugins()
  expect(shipped).toHaveLength(SHIPPED.length)
  expect(shipped.length).toBeGreaterThan(70)
  for (const plugin of shipped) {
    const { module: _, ...descriptor } = plugin
    const imported = toDescriptor(await importShipped(plugin))
    expect(JSON.parse(JSON.stringify(imported))).toEqual(descriptor)
  }
})
