import { expect, it } from 'vitest'
import { operator } from '../../src/cli/operator.ts'

it.each([
  [['--webhook-service', 'weir/webhook'], 'where is the webhook to listen?'],
  [['--webhook', 'http://127.0.0.1:9443'], 'expected https://HOST:PORT'],
  [['--webhook', '9443'], "'9443' is not a listener"],
  [['--webhook', 'https://0.0.0.0:9443'], 'no host that the API server could call'],
  [['--webhook', 'https://0.0.0.0:9443', '--webhook-service', 'webhook'], 'expected NAMESPACE/NAME'],
])('says of %j what would be right, and starts nothing', async (args, sentence) => {
  await expect(operator.run(args)).rejects.toThrow(sentence)
})
