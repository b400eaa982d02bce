import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openPageAssets } from '../../src/console/assets.ts'

const assets = openPageAssets()
const textOf = async (path: string) => (await assets.read(path))?.body.toString() ?? ''

describe('the assets of the page in a checkout', () => {
  it('are modules without types, which import only one another and the libraries', { tags: ['slow'] }, async () => {
    const seen = new Set<string>()
    const follow = async (path: string): Promise<void> => {
      if (seen.has(path)) return
      seen.add(path)
      const text = await textOf(path)
      expect(text, path).not.toBe('')
      for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'"]*\bfrom\s*['"]([^'"]+)['"]/gm)) {
        const target = name.startsWith('.')
          ? new URL(name, `http://page/${path}`).pathname.slice(1)
          : assets.libraries[name]
        expect(target, `${path} imports ${name}`).toBeDefined()
        if (name.startsWith('.')) await follow(target ?? '')
      }
    }
    await follow(assets.main)
    expect(seen.size).toBeGreaterThan(10)
    expect(await textOf('console/page/api.ts')).not.toContain(': string')
  })

  it('have a media type, a compressed copy and a tag that depends on the content', async () => {
    const style = await assets.read('style.css')
    const main = await assets.read(assets.main)
    expect([style?.type, main?.type]).toEqual(['text/css; charset=utf-8', 'text/javascript; charset=utf-8'])
    expect(style && gunzipSync(style.zipped).equals(style.body)).toBe(true)
    expect(style?.etag).toMatch(/^"[\w-]{16}"$/)
    expect(style?.etag).not.toBe(main?.etag)
  })

  it.each([
    '../assets.ts',
    '/etc/passwd',
    'tsconfig.json',
    'console/page/views',
    'console/assets.ts',
    'common/clock.ts',
    'constructor',
    '',
    'console/page/main.ts/',
    '..%2fassets.ts',
    'main.ts\0',
  ])('do not include %j', async (path) => expect(await assets.read(path)).toBeUndefined())
})
