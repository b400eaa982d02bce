import { describe, expect, it } from 'vitest'
import { memoryOptions } from '../../src/java/java-host.ts'

const HEAP = ['-XX:InitialRAMPercentage=0.1', '-XX:MinHeapFreeRatio=10', '-XX:MaxHeapFreeRatio=25']

describe('the memory options of a JVM', () => {
  it('choose the serial collector and a small initial heap', () => {
    expect(memoryOptions(['-Dname=value'], {})).toEqual(['-XX:+UseSerialGC', ...HEAP])
  })

  it.each([
    ['java.host.options', ['-Dname=value', '-XX:+UseG1GC'], {}],
    ['JAVA_TOOL_OPTIONS', [], { JAVA_TOOL_OPTIONS: '-Xlog:gc -XX:+UseZGC' }],
    ['JDK_JAVA_OPTIONS', [], { JDK_JAVA_OPTIONS: '-XX:+UseParallelGC' }],
  ])('choose no collector beside that of %s, because Java rejects two', (_, options, env) => {
    expect(memoryOptions(options, env)).toEqual(HEAP)
  })
})
