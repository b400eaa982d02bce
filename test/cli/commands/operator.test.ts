import { expect, it, onTestFinished, vi } from 'vitest'
import { operatorCommand } from '../../../src/cli/commands/operator.ts'

it.each([
  [['--webhook-service', 'weir/webhook'], '--webhook is missing'],
  [['--webhook', 'http://127.0.0.1:9443'], 'expected https://HOST:PORT'],
  [['--webhook', '9443'], "'9443' is not a listener"],
  [['--webhook', 'https://0.0.0.0:9443'], 'the API server needs a name to call'],
  [['--webhook', 'https://0.0.0.0:9443', '--webhook-service', 'webhook'], 'expected the NAMESPACE/NAME of a Service'],
])('rejects %j before it starts anything', async (args, sentence) => {
  await expect(operatorCommand.run(args)).rejects.toThrow(sentence)
})

it('reads settings of Kafka clients from the environment; --set overrides them', async () => {
  vi.stubEnv('WEIR_SET_SECURITY_PROTOCOL', 'SASL_SSL')
  vi.stubEnv('WEIR_SET_SASL_MECHANISM', 'nonsense')
  onTestFinished(() => void vi.unstubAllEnvs())
  const args = ['--bootstrap', '127.0.0.1:1']
  await expect(operatorCommand.run(args)).rejects.toThrow('sasl.mechanism=nonsense: expected one of')
  const set = ['--set', 'security.protocol=other']
  await expect(operatorCommand.run([...args, ...set])).rejects.toThrow('security.protocol=other: expected one of')
})
