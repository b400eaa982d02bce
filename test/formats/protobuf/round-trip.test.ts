import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseProto } from '../../../src/formats/protobuf/parser.ts'
import { printProto } from '../../../src/formats/protobuf/printer.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { protoFile } from '../../support/proto-files.ts'

it('parseProto(printProto(file)) returns the same file for random files', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(protoFile, (file) => {
      expect(parseProto(printProto(file))).toEqual(file)
    }),
    { numRuns: propertyRuns(200) },
  )
})
