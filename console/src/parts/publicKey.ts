/** Enough of a public key to show whose it is before it is saved; the server reads it again, and strictly. */

export interface PublicKey {
  type: string;
  /** The type as people say it: "ED25519", "RSA, 4096 bits". */
  words: string;
  /** Null where the browser will not compute one: on a page that did not come over a safe connection. */
  fingerprint: string | null;
  comment: string;
  line: string;
}

/** Why a text is no key that can be added, as a sentence for who pasted it. */
export class KeyRefused extends Error {
  constructor(
    message: string,
    /** The text must not stay on the screen, nor go anywhere. */
    readonly isPrivate = false,
  ) {
    super(message);
    this.name = "KeyRefused";
  }
}

const RSA_BITS = 3_072;
const WORDS: Record<string, string> = {
  "ssh-ed25519": "ED25519",
  "ecdsa-sha2-nistp256": "ECDSA, P-256",
  "ecdsa-sha2-nistp384": "ECDSA, P-384",
  "ecdsa-sha2-nistp521": "ECDSA, P-521",
  "ssh-rsa": "RSA",
  "sk-ssh-ed25519@openssh.com": "ED25519 on a security key",
  "sk-ecdsa-sha2-nistp256@openssh.com": "ECDSA on a security key",
};

export async function readPublicKey(text: string): Promise<PublicKey> {
  const line = text.trim();
  refuseOthers(line);
  const [type = "", encoded = "", ...comment] = line.split(/[ \t]+/);
  const words = WORDS[type];
  if (words === undefined) {
    throw new KeyRefused("This is not a public key. It begins with its type, such as ssh-ed25519 or ssh-rsa.");
  }
  const blob = decode(encoded);
  const fields = blob && split(blob);
  if (!blob || !fields || new TextDecoder().decode(fields[0]) !== type) {
    throw new KeyRefused("The key is cut short or changed. Copy the whole line of the .pub file.");
  }
  return {
    type,
    words: type === "ssh-rsa" ? `RSA, ${rsaBits(fields)} bits` : words,
    fingerprint: await fingerprint(blob),
    comment: comment.join(" "),
    line: `${type} ${encoded}`,
  };
}

function refuseOthers(line: string): void {
  if (/PRIVATE KEY|^PuTTY-User-Key-File/i.test(line)) {
    throw new KeyRefused(
      "This is a private key. Never give it to anybody, also not to us: it was not kept. Use the file beside it that ends in .pub.",
      true,
    );
  }
  if (/^---- BEGIN SSH2 PUBLIC KEY/.test(line)) {
    throw new KeyRefused("This key is in another format. Convert it: ssh-keygen -i -f key.pub");
  }
  if (/[\r\n]/.test(line)) throw new KeyRefused("This is more than one line. Add one key at a time.");
}

function decode(encoded: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Fields behind their lengths, to the last byte. */
function split(blob: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] | null {
  const view = new DataView(blob.buffer);
  const fields: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  while (at + 4 <= blob.length) {
    const end = at + 4 + view.getUint32(at);
    if (end > blob.length) return null;
    fields.push(blob.slice(at + 4, end));
    at = end;
  }
  return at === blob.length && fields.length > 1 ? fields : null;
}

function rsaBits(fields: Uint8Array[]): number {
  const modulus = fields[2] ?? new Uint8Array();
  const first = modulus.findIndex((byte) => byte !== 0);
  const bits = first < 0 ? 0 : (modulus.length - first) * 8 - Math.clz32(modulus[first] ?? 0) + 24;
  if (bits < RSA_BITS) {
    throw new KeyRefused(
      `This RSA key has ${bits} bits; ${RSA_BITS} are needed. Better make a new one: ssh-keygen -t ed25519`,
    );
  }
  return bits;
}

async function fingerprint(blob: Uint8Array<ArrayBuffer>): Promise<string | null> {
  if (crypto.subtle === undefined) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", blob));
  return `SHA256:${btoa(String.fromCharCode(...digest)).replace(/=+$/, "")}`;
}
