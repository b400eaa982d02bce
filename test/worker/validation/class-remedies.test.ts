import { expect, it } from 'vitest'
import { createCatalog } from '../../../src/plugins/plugin-catalog.ts'
import { toDescriptor } from '../../../src/plugins/plugin-descriptor.ts'
import { pluginClassProblem, problemLines } from '../../../src/worker/validation/plugin-class-problem.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'

const catalog = createCatalog(SHIPPED.map((plugin) => toDescriptor(plugin)))
const linesOf = (className: string) => {
  const problem = pluginClassProblem(catalog, 'transformation', 'transforms.a.type', className)
  return problem && problemLines(problem)
}
const missing = (className: string) =>
  `Invalid value ${className} for configuration transforms.a.type: Class ${className} could not be found.`

it.each([
  ['io.debezium.transforms.Filter', /script engine in a JVM.* FilterByExpression/],
  ['io.debezium.transforms.ContentBasedRouter', /io\.debezium:debezium-scripting/],
  ['io.debezium.transforms.TimezoneConverter', /weir plugins install io\.debezium:debezium-core:/],
  ['io.confluent.connect.transforms.GzipDecompress$Value', /not in Maven Central/],
  ['io.aiven.kafka.connect.transforms.Hash$Key', /not in Maven Central/],
  ['com.github.jcustenborder.kafka.connect.transform.common.ToJSON$Value', /kafka-connect-transform-common/],
  ['com.redhat.insights.expandjsonsmt.ExpandJSON$Value', /JsonParse/],
])('the error of a class that is not installed is that of Kafka Connect, and a remedy: %s', (className, remedy) => {
  expect(linesOf(className)).toEqual([missing(className), expect.stringMatching(remedy)])
})

it('the error of any other class is that of Kafka Connect', () => {
  expect(linesOf('com.example.Mine')).toEqual([missing('com.example.Mine')])
  expect(linesOf('io.confluent.connect.transforms.Drop')).toEqual([
    expect.stringMatching(/^This class is abstract and cannot be created\. Did you mean .*\.Drop\$Key, /),
  ])
  expect(linesOf('io.confluent.connect.transforms.Drop$Key')).toBeUndefined()
})
