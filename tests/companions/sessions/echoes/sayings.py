"""What the made-up person may say: facts in several ways, and what differs from day to day."""

LIKED = {
    "drink": ["green tea", "black coffee", "ginger beer", "cocoa"],
    "dish": ["lentil soup", "mushroom risotto", "dumplings", "leek pie"],
    "music": ["string quartets", "old jazz", "fado", "accordion waltzes"],
    "sport": ["rowing", "climbing", "badminton", "swimming"],
    "season": ["spring", "autumn", "winter", "summer"],
}
PREFERENCES = (
    "My favourite {name} is {like}.",
    "I like {like} best of all, as a {name}.",
    "When it comes to a {name}, I love {like}.",
)
CHANGED = "I no longer like {before}, now I prefer {now} as my {name}."
SHARES = {"fact": 22, "preference": 16, "event": 16, "plan": 8, "promise": 4, "feeling": 12, "question": 22}
ENGLISH = {
    "fact": (
        "My sister Ingrid lives in Bergen.",
        "Ingrid, my sister, has her flat in Bergen.",
        "I work as a bookbinder in Leiden.",
        "In Leiden I bind books for my living.",
        "My dog Rufus is a grey whippet.",
        "I have a grey whippet, he is called Rufus.",
        "My brother Tom plays the cello.",
        "I am allergic to walnuts.",
        "I grew up in a lighthouse near Skagen.",
        "My friend Amara teaches chemistry.",
        "I keep my grandmother's loom in the attic.",
        "Every Thursday I sing in a choir.",
    ),
    "event": (
        "Yesterday I repaired {thing} with {person}.",
        "I went to {place} today and met {person}.",
        "Last night I finished {thing} and slept badly.",
        "This morning {person} brought me {gift} from {place}.",
    ),
    "plan": (
        "I want to walk to {place} in the summer.",
        "I plan to build {gift} for {person}.",
        "My goal is to learn {skill} this year.",
    ),
    "promise": ("I promise to write to {person} this week.", "I promise to bring you a story from {place}."),
    "feeling": (
        "I feel {mood} today, because of {person}.",
        "The thought of {place} makes me {mood}.",
        "I am {mood}, and I do not know why.",
    ),
    "question": (
        "Do you remember where my sister lives?",
        "What did I tell you about my dog Rufus?",
        "What is my favourite {liked}?",
        "Do you still know what I told you about {person}?",
        "What was it that I planned with {place}?",
        "Do you remember what I am allergic to?",
        "What do you know of my brother Tom and his cello?",
    ),
}
CHINESE = (
    "我妹妹小英住在卑尔根。",
    "我的狗叫鲁弗斯，是一只灰色的小猎犬。",
    "我最喜欢喝绿茶。",
    "我对核桃过敏。",
    "昨天我和{friend}一起修好了{object}。",
    "今天我去了{spot}，遇到了{friend}。",
    "我打算学{craft}。",
    "我今天有点{feeling}，因为{friend}。",
    "你还记得我妹妹住在哪里吗？",
    "你记得我对什么过敏吗？",
    "我告诉过你{friend}的事吗？",
)
SOME = {
    "person": ["Ingrid", "Tom", "Amara", "Joris", "Mrs Okafor", "my neighbour Pim"],
    "place": ["the harbour", "the old mill", "Utrecht", "the botanical garden", "the dunes", "the market"],
    "thing": ["the loom", "a torn atlas", "the kitchen door", "an old radio", "the boat"],
    "gift": ["a lamp", "a bookshelf", "a jar of honey", "a kite"],
    "skill": ["Portuguese", "marbling paper", "the accordion", "sailing"],
    "mood": ["happy", "sad", "tired", "proud", "anxious", "grateful"],
    "liked": list(LIKED),
    "friend": ["小林", "老张", "阿美", "王明"],
    "object": ["收音机", "书架", "自行车", "织布机"],
    "spot": ["港口", "植物园", "市场", "沙丘"],
    "craft": ["葡萄牙语", "手风琴", "帆船", "书法"],
    "feeling": ["开心", "难过", "累", "骄傲"],
}
