import { expect, it } from 'vitest'
import { INT32 } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { startCompiledSource } from '../../support/java-host.ts'

const javaHost = await real('javaHost')

describeOn([javaHost], 'a record of a Java source', () => {
  it('keeps the struct that is the default of a field', async () => {
    const source = await startCompiledSource(javaHost.address, 'StructDefault')
    const [record] = await source.nextBatch()
    expect(record!.value).toEqual({ at: { x: 2 } })
    const point = { type: 'struct', name: 'Point', default: { x: 1 }, fields: [{ name: 'x', schema: INT32 }] }
    expect(record!.valueSchema).toEqual({ type: 'struct', fields: [{ name: 'at', schema: point }] })
  })
})
